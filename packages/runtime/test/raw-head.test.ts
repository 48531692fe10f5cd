import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readHead } from '../src/http/raw-head.ts'

const read = (text: string) => readHead(Buffer.from(text, 'latin1'))
const HOST = 'Host: localhost:1\r\n'

describe('readHead', () => {
  it('reads one whole, plain GET request', () => {
    expect(read(`GET /wait?cid=a%20b&x HTTP/1.1\r\n${HOST}Accept:  text/event-stream \t\r\nX-Empty:\r\n\r\n`)).toEqual({
      target: '/wait?cid=a%20b&x',
      headers: { host: 'localhost:1', accept: 'text/event-stream', 'x-empty': '' },
    })
  })

  it.each([
    ['no Host', 'GET / HTTP/1.1\r\nx: y\r\n\r\n'],
    ['an empty Host', 'GET / HTTP/1.1\r\nhost:\r\n\r\n'],
    ['no headers', 'GET / HTTP/1.1\r\n\r\n'],
    ['two Hosts', `GET / HTTP/1.1\r\n${HOST}${HOST}\r\n`],
    ['a header twice', `GET / HTTP/1.1\r\n${HOST}x: 1\r\nX: 2\r\n\r\n`],
    ['something after it', `GET / HTTP/1.1\r\n${HOST}\r\nG`],
    ['an unfinished head', `GET / HTTP/1.1\r\n${HOST}\r`],
    ['bare LF', `GET / HTTP/1.1\nhost: a\n\n`],
    ['a bare CR', `GET / HTTP/1.1\r\n${HOST}x: a\rb\r\n\r\n`],
    ['a folded header', `GET / HTTP/1.1\r\n${HOST}x: a\r\n b\r\n\r\n`],
    ['a space before the colon', `GET / HTTP/1.1\r\n${HOST}x : a\r\n\r\n`],
    ['absolute form', `GET http://a/ HTTP/1.1\r\n${HOST}\r\n`],
    ['asterisk form', `GET * HTTP/1.1\r\n${HOST}\r\n`],
    ['a fragment', `GET /#a HTTP/1.1\r\n${HOST}\r\n`],
    ['another version', `GET / HTTP/1.0\r\n${HOST}\r\n`],
    ['another method', `PUT / HTTP/1.1\r\n${HOST}\r\n`],
    ['a length', `GET / HTTP/1.1\r\n${HOST}Content-Length: 0\r\n\r\n`],
    ['chunks', `GET / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n`],
    ['an expectation', `GET / HTTP/1.1\r\n${HOST}Expect: 100-continue\r\n\r\n`],
    ['an upgrade', `GET / HTTP/1.1\r\n${HOST}Upgrade: websocket\r\n\r\n`],
    ['bytes that are not ASCII', `GET / HTTP/1.1\r\n${HOST}x: \xe9\r\n\r\n`],
    ['a NUL', `GET / HTTP/1.1\r\n${HOST}x: \0\r\n\r\n`],
    ['a long head', `GET / HTTP/1.1\r\n${HOST}x: ${'y'.repeat(8_192)}\r\n\r\n`],
  ])('leaves alone: %s', (_what, text) => {
    expect(read(text)).toBeUndefined()
  })

  it('takes no request with anything cut off, added or put in', () => {
    const whole = `GET /wait HTTP/1.1\r\n${HOST}\r\n`
    const control = fc.constantFrom('\r', '\n', '\0', '\x7f', '\xff', '\r\n\r\n')
    fc.assert(
      fc.property(fc.nat(whole.length), control, (at, char) => {
        expect(read(whole.slice(0, at) + char + whole.slice(at))).toBeUndefined()
        if (at < whole.length) expect(read(whole.slice(0, at))).toBeUndefined()
      }),
    )
  })

  it('is quick about a head that almost fits', () => {
    const start = performance.now()
    expect(read(`GET /${'a'.repeat(4_000)} HTTP/1.1\r\n${'x: y\r\n'.repeat(600)}\n`)).toBeUndefined()
    expect(performance.now() - start).toBeLessThan(1_000)
  })
})
