const ID = '[A-Za-z0-9_-]{11}'
const HOST = '(?:https?://)?(?:(?:www|m|music|gaming)\\.)?'

/** An id, or a link as YouTube gives them out: watch, youtu.be, shorts, live, embed. @param id the pattern of its id */
const patternOf = (id: string) =>
  `^(?:${id}|${HOST}(?:youtu\\.be/${id}(?:[?&#/][!-~]*)?|youtube(?:-nocookie)?\\.com/(?:` +
  `(?:shorts|live|embed|v)/${id}(?:[?&#/][!-~]*)?|watch/?\\?(?:[!-"$-~]*?&)??v=${id}(?:[&#][!-~]*)?)))$`

/** What names a video: its id or a link to it. `videoIdOf` also takes capitals, and spaces around it. */
export const VIDEO = patternOf(ID)

const VIDEO_WITH_ID = new RegExp(patternOf(`(${ID})`), 'i')

/** The id of the video that a link or an id names; nothing if it names none. */
export const videoIdOf = (text: string): string | undefined =>
  VIDEO_WITH_ID.exec(text.trim())
    ?.slice(1)
    .find((id) => id !== undefined)

/** A link to a video. */
export const linkTo = (id: string): string => `https://www.youtube.com/watch?v=${id}`
