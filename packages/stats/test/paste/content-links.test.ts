import { describe, expect, it } from 'vitest'
import type { PostLink } from '../../src/core/paste/content-link.ts'
import { readWord } from '../../src/core/paste/read-word.ts'

const CHANNEL = 'UCabcdefghijklmnopqrstuv'
const PLAYLIST = 'PLabcdefghijklmnopqrstuvwxyz012345'

const findLink = (word: string) => {
  const content = readWord(word)
  return content && 'link' in content ? content.link : undefined
}

describe('YouTube', () => {
  it.each([
    [`https://www.youtube.com/channel/${CHANNEL}`, { id: CHANNEL }],
    [`https://www.youtube.com/channel/${CHANNEL}/videos?view=0`, { id: CHANNEL }],
    [`https://studio.youtube.com/channel/${CHANNEL}/videos`, { id: CHANNEL }],
    [`https://www.youtube.com/embed/live_stream?channel=${CHANNEL}`, { id: CHANNEL }],
    [CHANNEL, { id: CHANNEL }],
    ['https://www.youtube.com/@nasa', { name: 'nasa', nameKind: 'handle' }],
    ['youtube.com/@nasa/videos', { name: 'nasa', nameKind: 'handle' }],
    ['https://www.youtube.com/@nasa).', { name: 'nasa', nameKind: 'handle' }],
    ['https://m.youtube.com/@J%C3%BCrgen', { name: 'Jürgen', nameKind: 'handle' }],
    ['@nasa', { name: 'nasa', nameKind: 'handle' }],
    ['(@nasa),', { name: 'nasa', nameKind: 'handle' }],
    ['https://www.youtube.com/c/NASA', { name: 'NASA', nameKind: 'custom' }],
    ['https://www.youtube.com/user/NASAtelevision', { name: 'NASAtelevision', nameKind: 'user' }],
    ['https://www.youtube.com/NASA', { name: 'NASA', nameKind: 'custom' }],
  ])('%s is a channel', (word, expected) => {
    expect(findLink(word)).toMatchObject({ type: 'channel', platform: 'youtube', ...expected })
  })

  it.each([
    `https://www.youtube.com/playlist?list=${PLAYLIST}`,
    `https://www.youtube.com/playlist?list=${PLAYLIST}&si=x`,
    `https://www.youtube.com/embed/videoseries?list=${PLAYLIST}`,
    `https://www.youtube.com/watch?list=${PLAYLIST}`,
    `https://music.youtube.com/playlist?list=${PLAYLIST}).`,
    PLAYLIST,
  ])('%s is a playlist', (word) => {
    const url = `https://www.youtube.com/playlist?list=${PLAYLIST}`
    expect(findLink(word)).toEqual({ type: 'playlist', platform: 'youtube', id: PLAYLIST, url })
  })

  it('a link to a video in a playlist is the video', () => {
    const id = '-4lB5EKS5Uk'
    expect(findLink(`https://www.youtube.com/watch?v=${id}&list=${PLAYLIST}`)).toMatchObject({ type: 'video', id })
    expect(findLink(`https://www.youtube.com/shorts/${id}`)).toMatchObject({ type: 'video', id, isShort: true })
  })
})

const INSTAGRAM = 'https://www.instagram.com'
const TIKTOK_ID = '7123456789012345678'
const TIKTOK = `https://www.tiktok.com/@bob.b/video/${TIKTOK_ID}`
const STATUS = '1234567890123456789'
const URN = 'urn:li:activity:7123456789012345678'
const LINKEDIN = `https://www.linkedin.com/feed/update/${URN}/`
const PFBID = 'pfbid02abcDEF1234567890'

describe('a post of another platform', () => {
  it.each([
    [`${INSTAGRAM}/p/Cabc-1_23/?igsh=x`, 'instagram', `${INSTAGRAM}/p/Cabc-1_23/`],
    [`${INSTAGRAM}/reel/Cabc123/`, 'instagram', `${INSTAGRAM}/reel/Cabc123/`],
    [`${INSTAGRAM}/reels/Cabc123`, 'instagram', `${INSTAGRAM}/reel/Cabc123/`],
    [`${INSTAGRAM}/tv/Cabc123`, 'instagram', `${INSTAGRAM}/tv/Cabc123/`],
    [`instagram.com/bob.b/reel/Cabc123`, 'instagram', `${INSTAGRAM}/reel/Cabc123/`],
    [`${INSTAGRAM}/share/reel/BAabc123`, 'instagram', `${INSTAGRAM}/share/reel/BAabc123/`],
    [`${TIKTOK}?lang=de`, 'tiktok', TIKTOK],
    [`https://m.tiktok.com/v/${TIKTOK_ID}.html`, 'tiktok', `https://www.tiktok.com/@/video/${TIKTOK_ID}`],
    [`https://www.tiktok.com/@bob/photo/${TIKTOK_ID}`, 'tiktok', `https://www.tiktok.com/@bob/photo/${TIKTOK_ID}`],
    ['https://vm.tiktok.com/ZMabc123/', 'tiktok', 'https://vm.tiktok.com/ZMabc123/'],
    ['https://vt.tiktok.com/ZSabc123', 'tiktok', 'https://vm.tiktok.com/ZSabc123/'],
    ['https://www.tiktok.com/t/ZTabc123/', 'tiktok', 'https://vm.tiktok.com/ZTabc123/'],
    ['https://www.twitch.tv/videos/123456789?t=1h', 'twitch', 'https://www.twitch.tv/videos/123456789'],
    ['https://m.twitch.tv/bob/v/123456789', 'twitch', 'https://www.twitch.tv/videos/123456789'],
    ['https://player.twitch.tv/?video=v123456789', 'twitch', 'https://www.twitch.tv/videos/123456789'],
    ['https://clips.twitch.tv/FunnyClip-abc_1', 'twitch', 'https://clips.twitch.tv/FunnyClip-abc_1'],
    ['https://clips.twitch.tv/embed?clip=FunnyClip', 'twitch', 'https://clips.twitch.tv/FunnyClip'],
    ['https://www.twitch.tv/bob/clip/FunnyClip?x=1', 'twitch', 'https://clips.twitch.tv/FunnyClip'],
    [`https://twitter.com/bob/status/${STATUS}?s=20`, 'x', `https://x.com/bob/status/${STATUS}`],
    [`https://mobile.twitter.com/bob/status/${STATUS}/photo/1`, 'x', `https://x.com/bob/status/${STATUS}`],
    [`x.com/i/web/status/${STATUS}`, 'x', `https://x.com/i/status/${STATUS}`],
    ['https://www.facebook.com/watch/?v=123456789', 'facebook', 'https://www.facebook.com/watch/?v=123456789'],
    ['https://m.facebook.com/reel/123456789/?s=x', 'facebook', 'https://www.facebook.com/reel/123456789'],
    [`https://www.facebook.com/bob/posts/${PFBID}`, 'facebook', `https://www.facebook.com/bob/posts/${PFBID}`],
    ['https://facebook.com/bob/posts/a-title/123456', 'facebook', 'https://www.facebook.com/bob/posts/123456'],
    ['https://de-de.facebook.com/bob/videos/123456/', 'facebook', 'https://www.facebook.com/bob/videos/123456'],
    [
      'https://www.facebook.com/permalink.php?story_fbid=123456&id=99',
      'facebook',
      'https://www.facebook.com/permalink.php?story_fbid=123456&id=99',
    ],
    [
      'https://www.facebook.com/groups/g/permalink/123456/',
      'facebook',
      'https://www.facebook.com/groups/g/posts/123456',
    ],
    ['https://www.facebook.com/share/r/abcDEF12/', 'facebook', 'https://www.facebook.com/share/r/abcDEF12/'],
    ['https://fb.watch/abcDEF12/', 'facebook', 'https://fb.watch/abcDEF12/'],
    [`https://www.linkedin.com/feed/update/${URN}`, 'linkedin', LINKEDIN],
    [`https://www.linkedin.com/feed/update/${encodeURIComponent(URN)}?x=1`, 'linkedin', LINKEDIN],
    [`https://de.linkedin.com/embed/feed/update/${URN}`, 'linkedin', LINKEDIN],
    ['https://www.linkedin.com/posts/bob_hi-activity-7123456789012345678-a_-c/', 'linkedin', LINKEDIN],
    [
      'https://www.linkedin.com/posts/bob_hi-ugcPost-7123456789012345678-abcd',
      'linkedin',
      'https://www.linkedin.com/feed/update/urn:li:ugcPost:7123456789012345678/',
    ],
    [`https://l.instagram.com/?u=${encodeURIComponent(TIKTOK)}&e=1`, 'tiktok', TIKTOK],
    [
      `https://www.google.com/url?q=${encodeURIComponent(`${INSTAGRAM}/p/Cabc123/`)}`,
      'instagram',
      `${INSTAGRAM}/p/Cabc123/`,
    ],
  ])('%s', (word, platform, url) => {
    const link = findLink(word)
    expect(link).toMatchObject({ type: 'post', platform, url })
    // The normalised link names the same post.
    expect(findLink(url)).toMatchObject({ id: link!.id, url })
  })

  it.each([
    [TIKTOK, '@bob.b'],
    [`${INSTAGRAM}/bob.b/p/Cabc123/`, '@bob.b'],
    [`https://x.com/Bob/status/${STATUS}`, '@Bob'],
    ['https://www.linkedin.com/posts/bob-b_hi-activity-7123456789012345678-abcd', '@bob-b'],
    [`https://x.com/i/status/${STATUS}`, undefined],
  ])('%s has the author %s', (word, author) => expect((findLink(word) as PostLink).author).toBe(author))
})

it.each([
  ['https://vimeo.com/123456', 'UNSUPPORTED_HOST'],
  ['https://youtube.com.evil.example/watch?v=aaaaaaaaaaa', 'UNSUPPORTED_HOST'],
  ['http://__proto__/x', 'UNSUPPORTED_HOST'],
  ['https://www.youtube.com/watch?v=short', 'MALFORMED_ID'],
  ['https://youtu.be/twelve_chars', 'MALFORMED_ID'],
  ['https://www.youtube.com/channel/UCshort', 'MALFORMED_ID'],
  ['https://www.youtube.com/playlist?list=PL1', 'MALFORMED_ID'],
  ['https://www.youtube.com/playlist?list=WL', 'PERSONAL_PLAYLIST'],
  ['https://www.youtube.com/playlist?list=RDabcdefghijk', 'PERSONAL_PLAYLIST'],
  ['https://www.youtube.com/results?search_query=x', 'UNSUPPORTED_LINK'],
  ['https://www.youtube.com/', 'UNSUPPORTED_LINK'],
  ['https://www.youtube.com/redirect?q=https%3A%2F%2Fevil.example', 'UNSUPPORTED_LINK'],
  ['https://bit.ly/3abc', 'SHORTENED_LINK'],
  ['https://t.co/abc', 'SHORTENED_LINK'],
  ['https://www.tiktok.com/@bob', 'PROFILE_LINK'],
  ['https://www.instagram.com/bob/', 'PROFILE_LINK'],
  ['https://x.com/bob', 'PROFILE_LINK'],
  ['https://www.linkedin.com/in/bob', 'PROFILE_LINK'],
  ['https://www.instagram.com/stories/bob/123456/', 'UNSUPPORTED_LINK'],
  ['https://www.instagram.com/p/', 'MALFORMED_ID'],
  ['https://www.tiktok.com/@bob/video/12', 'MALFORMED_ID'],
  ['https://x.com/bob/status/none', 'MALFORMED_ID'],
  ['https://vm.tiktok.com/', 'UNSUPPORTED_LINK'],
  [`https://youtu.be/${'a'.repeat(9_000)}`, 'TOO_LONG'],
])('%s is refused: %s', (word, reason) => expect(readWord(word)).toEqual({ reason }))

it.each(['', 'and/or', 'a@b.de', '@', '@a', 'e.g./i.e.', '1.5/2', 'youtube.com', 'Hello', '--', 'a'.repeat(9_000)])(
  '%j is no link',
  (word) => expect(readWord(word)).toBeUndefined(),
)

it('a word of 11 characters is doubtful', () => {
  expect(readWord('-4lB5EKS5Uk')).toMatchObject({ link: { id: '-4lB5EKS5Uk' }, isDoubtful: true })
  expect(readWord('Influencers')).toMatchObject({ link: { id: 'Influencers' }, isDoubtful: true, isWord: true })
})
