/** A channel of the stand-in, whose uploads are in the sheet. */
export const CREATOR = { id: 'UC0007000700070007000700', title: 'Channel 7' }
/** First uploads of this channel. */
export const CREATOR_VIDEOS = ['UC000700000', 'UC000700001', 'UC000700002'] as const
const OTHER_VIDEOS = Array.from({ length: 48 }, (_, i) => `w${String(i).padStart(2, '0')}-xYz_Q7w`)

/** Videos of the sheet, in its order. */
export const VIDEOS: readonly string[] = [...CREATOR_VIDEOS, ...OTHER_VIDEOS]

/** Words in the place of a link that are no video. */
const BAD_LINKS = [
  'https://vimeo.com/76979871',
  'https://example.com/video',
  'https://open.spotify.com/episode/x',
  'https://youtu.be/abc',
  'https://www.youtube.com/watch?v=',
  'https://www.youtube.com/feed/subscriptions',
  'tbd',
  // The stand-in knows no video whose id ends in `_`.
  'gone_video_',
  `https://youtu.be/${CREATOR_VIDEOS[0]}`,
]

const WRAPPERS = [
  (id: string) => `https://www.youtube.com/watch?v=${id}&t=42s`,
  (id: string) => `https://youtu.be/${id}?si=abc`,
  (id: string) => `https://www.youtube.com/shorts/${id}`,
  (id: string) => `https://l.instagram.com/?u=${encodeURIComponent(`https://youtu.be/${id}`)}`,
]

/** A sheet of 60 rows below its headings, as copied from a spreadsheet. Nine of them are no video, or one that it has already. */
export function buildSheet(): string {
  const links = VIDEOS.map((id, i) => WRAPPERS[i % WRAPPERS.length]!(id))
  // The bad rows are spread over the sheet; the last one repeats a video.
  for (const [i, link] of BAD_LINKS.entries()) links.splice(6 * i + 5, 0, link)
  return ['Influencer\tLink\tStatus', ...links.map((link, i) => `Person ${i % 7}\t${link}\tbooked`)].join('\n')
}
