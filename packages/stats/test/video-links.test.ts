import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toVideoUrl, VIDEO_PATTERN, parseVideoId } from '../src/core/video-links.ts'
import { videoId } from './support/video-numbers.ts'

const parameter = fc.constantFrom('t=10s', 'list=PL123', 'app=desktop', 'si=x-_9', 'feature=youtu.be', 'pp=%3D', 'tv=1')
const query = fc.array(parameter, { maxLength: 3 })
const host = fc.constantFrom('', 'www.', 'm.', 'music.')
const scheme = fc.constantFrom('https://', 'http://', '')
const fragment = fc.constantFrom('', '#t=1m', '#')

/** Links in the forms that YouTube creates, with their id. */
const link = fc
  .record({ id: videoId, scheme, host, before: query, after: query, fragment, form: fc.nat(5) })
  .map(({ id, scheme, host, before, after, fragment, form }) => {
    const all = [...before, ...after].join('&')
    const tail = (all && `?${all}`) + fragment
    const path = ['shorts', 'live', 'embed', 'v'][form]
    if (path) return { id, text: `${scheme}${host}youtube.com/${path}/${id}${tail}` }
    if (form === 4) return { id, text: `${scheme}${host === 'm.' ? '' : host}youtu.be/${id}${tail}` }
    const parameters = [...before, `v=${id}`, ...after].join('&')
    return { id, text: `${scheme}${host}youtube.com/watch?${parameters}${fragment}` }
  })

describe('the id of a video', () => {
  it('is found in every link that YouTube creates, and in itself', () => {
    fc.assert(
      fc.property(link, ({ id, text }) => {
        expect([text, parseVideoId(text)]).toEqual([text, id])
        expect(text).toMatch(new RegExp(VIDEO_PATTERN))
      }),
    )
    fc.assert(
      fc.property(videoId, (id) => {
        expect([parseVideoId(id), parseVideoId(toVideoUrl(id))]).toEqual([id, id])
      }),
    )
  })

  it('is found in every text that the pattern accepts', () => {
    fc.assert(
      fc.property(fc.stringMatching(new RegExp(VIDEO_PATTERN)), (text) => {
        expect(parseVideoId(text)).toMatch(/^[\w-]{11}$/)
      }),
    )
  })

  it('is independent of capitals and spaces, except for the id itself', () => {
    expect(parseVideoId(' HTTPS://WWW.YouTube.com/watch?v=aBcDeFgHiJk\n')).toBe('aBcDeFgHiJk')
  })

  const ID = '-4lB5EKS5Uk'
  const watch = `https://www.youtube.com/watch?v=${ID}`
  const escaped = encodeURIComponent(watch)
  it.each([
    // The usual forms.
    watch,
    `http://youtube.com/watch?v=${ID}`,
    `www.youtube.com/watch?v=${ID}&t=42s`,
    `https://m.youtube.com/watch?app=desktop&v=${ID}`,
    `https://music.youtube.com/watch?v=${ID}&list=RDAMVM`,
    `https://gaming.youtube.com/watch?v=${ID}`,
    `https://www.youtube.com/watch/?v=${ID}`,
    `https://www.youtube.com/watch?list=PL1,2&index=3&v=${ID}`,
    `https://www.youtube.com/watch?v=${ID}#t=1m`,
    `https://youtu.be/${ID}`,
    `youtu.be/${ID}?si=x-_9`,
    `https://youtu.be/${ID}&t=10`,
    `https://youtu.be/${ID}/`,
    `https://www.youtube.com/shorts/${ID}?feature=share`,
    `https://www.youtube.com/live/${ID}?si=1`,
    `https://www.youtube.com/embed/${ID}?start=3`,
    `https://www.youtube-nocookie.com/embed/${ID}`,
    `https://www.youtube.com/v/${ID}?version=3`,
    `HTTPS://WWW.YOUTUBE.COM/watch?v=${ID}`,
    ` ${ID}\n`,
    ID,
    `https://youtu.be/${ID}?t=1&list=a|b`,
    // Real forms that were refused.
    `https://www.youtube.com/e/${ID}`,
    `https://www.youtube.com/watch/${ID}`,
    `https://www.youtube.com/?v=${ID}`,
    `https://www.youtube.com/attribution_link?a=x&u=%2Fwatch%3Fv%3D${ID}%26feature%3Dshare`,
    `https://studio.youtube.com/video/${ID}/edit`,
    `https://studio.youtube.com/video/${ID}`,
    `https://www.youtube.com/redirect?event=x&q=${escaped}`,
    `https://www.google.com/url?sa=t&url=${escaped}&usg=x`,
    `https://www.google.com/url?q=${escaped}`,
    `https://l.facebook.com/l.php?u=${escaped}&h=AT0`,
    `https://l.instagram.com/?u=https%3A%2F%2Fyoutu.be%2F${ID}%3Fsi%3Dx&e=AT0`,
    `https://vk.com/away.php?to=${escaped}`,
    `https://eur01.safelinks.protection.outlook.com/?url=${escaped}&data=05`,
    `https://consent.youtube.com/m?continue=${encodeURIComponent(`${watch}&cbrd=1`)}&gl=DE`,
    `https://www.google.com/url?q=${encodeURIComponent(`https://www.youtube.com/redirect?q=${escaped}`)}`,
    `//www.youtube.com/watch?v=${ID}`,
    `//youtu.be/${ID}`,
    `https://www.youtube.com:443/watch?v=${ID}`,
    `http://youtube.com:80/watch?v=${ID}`,
    ...['.', ',', ';', ':', '!', '?', ')', ']', '}', '>', '"', "'", '…', '»', '”', ').', '&', '/'].map(
      (end) => watch + end,
    ),
    ...['(', '<', '"', '[', '“'].map((begin) => `${begin}https://youtu.be/${ID}`),
    `\u200b${watch}\u200b`,
    `https://youtu.be/\u2060${ID}`,
    `https://youtu.be/${ID}\ufeff?si=1`,
    `https://youtu.be/${ID}%E2%80%8B`,
    `\u202ahttps://youtu.be/${ID}\u202c`,
    `\u00a0${ID}\u00a0`,
  ])('is in the real form %j', (text) => expect(parseVideoId(text)).toBe(ID))

  it('is the one that YouTube would play if there are two', () => {
    expect(parseVideoId('https://www.youtube.com/watch?v=aaaaaaaaaaa&v=bbbbbbbbbbb')).toBe('aaaaaaaaaaa')
  })

  it.each([
    '',
    'short',
    'twelve_chars',
    'https://vimeo.com/123456789',
    'https://youtube.com.evil.example/watch?v=aaaaaaaaaaa',
    'https://evil.example/?https://youtu.be/aaaaaaaaaaa',
    'https://evil.example#youtube.com/watch?v=aaaaaaaaaaa',
    'https://evilyoutube.com/watch?v=aaaaaaaaaaa',
    'https://user@youtube.com/watch?v=aaaaaaaaaaa',
    'javascript:https://youtu.be/aaaaaaaaaaa',
    'https://www.youtube.com/watch?v=aaaaaaaaaaaa',
    'https://www.youtube.com/watch?v=short',
    'https://www.youtube.com/watch?tv=aaaaaaaaaaa',
    'https://www.youtube.com/watch#&v=aaaaaaaaaaa',
    'https://youtu.be/aaaaaaaaaaaa',
    'https://www.youtube.com/@channel',
    'https://www.youtube.com/playlist?list=aaaaaaaaaaa',
    'https://youtu.be/aaaaaaaaaaa https://youtu.be/bbbbbbbbbbb',
    'https://www.youtube.com/embed/videoseries?list=PLaaaaaaaaaaa',
    'https://www.youtube.com/embed/live_stream?channel=UCaaaaaaaaaa',
    'https://youtube.com:8080/watch?v=aaaaaaaaaaa',
    'https://www.google.com/url?q=aaaaaaaaaaa',
    'https://www.google.com/search?q=Influencers',
    'https://evil.example/?u=/watch?v=aaaaaaaaaaa',
    'https://evil.example/watch?v=aaaaaaaaaaa',
    'https://www.youtube.com/redirect?q=https%3A%2F%2Fevil.example',
    'https://studio.youtube.com/channel/aaaaaaaaaaa',
    'ftp://youtu.be/aaaaaaaaaaa',
    'aaaaa aaaaaa',
  ])('is not in %j', (text) => expect(parseVideoId(text)).toBeUndefined())

  it('is found in a time linear in the length of the text', () => {
    for (const part of ['&v=', 'v=', '&', '?v=aaaaaaaaaa&', '.', '(', '\u200b', '%E2%80%8B', 'https%3A%2F%2F']) {
      const text = `https://www.youtube.com/watch?${part.repeat(300_000)}`
      const { user } = process.cpuUsage()
      expect(parseVideoId(text)).toBeUndefined()
      expect(process.cpuUsage().user - user).toBeLessThan(1_000_000)
    }
  })
})
