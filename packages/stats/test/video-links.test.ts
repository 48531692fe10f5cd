import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { linkTo, VIDEO, videoIdOf } from '../src/core/video-links.ts'
import { videoId } from './support/numbers.ts'

const parameter = fc.constantFrom('t=10s', 'list=PL123', 'app=desktop', 'si=x-_9', 'feature=youtu.be', 'pp=%3D', 'tv=1')
const query = fc.array(parameter, { maxLength: 3 })
const host = fc.constantFrom('', 'www.', 'm.', 'music.')
const scheme = fc.constantFrom('https://', 'http://', '')
const fragment = fc.constantFrom('', '#t=1m', '#')

/** Links as YouTube gives them out, with the id that each is of. */
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
  it('is found in every link that YouTube gives out, and in itself', () => {
    fc.assert(
      fc.property(link, ({ id, text }) => {
        expect([text, videoIdOf(text)]).toEqual([text, id])
        expect(text).toMatch(new RegExp(VIDEO))
      }),
    )
    fc.assert(
      fc.property(videoId, (id) => {
        expect([videoIdOf(id), videoIdOf(linkTo(id))]).toEqual([id, id])
      }),
    )
  })

  it('is found whatever the pattern allows', () => {
    fc.assert(
      fc.property(fc.stringMatching(new RegExp(VIDEO)), (text) => {
        expect(videoIdOf(text)).toMatch(/^[\w-]{11}$/)
      }),
    )
  })

  it('is the same in capitals and between spaces, but for the id itself', () => {
    expect(videoIdOf(' HTTPS://WWW.YouTube.com/watch?v=aBcDeFgHiJk\n')).toBe('aBcDeFgHiJk')
  })

  it('is that which YouTube would play where there are two', () => {
    expect(videoIdOf('https://www.youtube.com/watch?v=aaaaaaaaaaa&v=bbbbbbbbbbb')).toBe('aaaaaaaaaaa')
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
    'https://youtu.be/aaaaaaaaaaa?\u{1F600}',
  ])('is not in %j', (text) => expect(videoIdOf(text)).toBeUndefined())

  it('is looked for in a time that grows with the text, no faster', () => {
    for (const part of ['&v=', 'v=', '&', '?v=aaaaaaaaaa&']) {
      const text = `https://www.youtube.com/watch?${part.repeat(300_000)}`
      const { user } = process.cpuUsage()
      expect(videoIdOf(text)).toBeUndefined()
      expect(process.cpuUsage().user - user).toBeLessThan(1_000_000)
    }
  })
})
