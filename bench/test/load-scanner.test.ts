import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ReplyScanner } from '../src/load/raw/reply-scanner.ts'

/** Feeds a reply in pieces that end at these offsets, and overwrites the memory after each, as a socket does. */
function scan(reply: string, cuts: readonly number[] = [], bodiless = false) {
  const bytes = Buffer.from(reply)
  const scanner = new ReplyScanner(true)
  scanner.begin(bodiless)
  const ends = [...cuts.map((cut) => cut % bytes.length), bytes.length].sort((a, b) => a - b)
  let at = 0
  let outcome = 'more'
  let body = ''
  for (const end of ends.filter((cut) => cut > 0)) {
    if (end === at) continue
    const piece = Buffer.from(bytes.subarray(at, end))
    outcome = scanner.feed(piece)
    body = scanner.body.toString()
    piece.fill('#')
    at = end
    if (outcome === 'broken') break
  }
  return { outcome, body, status: scanner.status, closes: scanner.closes, scanner }
}

const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
const whole = {
  sized: 'HTTP/1.1 200 OK\r\nDate: today\r\ncontent-LENGTH:  7 \r\nX: y\r\n\r\nvalue a',
  chunked: `${CHUNKED}3;why=not\r\nval\r\n4\r\nue a\r\n0\r\nTrailer: x\r\n\r\n`,
  hinted: 'HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200\r\nContent-Length: 7\r\n\r\nvalue a',
}

describe('reply scanner', () => {
  it.each(Object.entries(whole))('reads a %s reply however it is cut', (_, reply) => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 12 }), (cuts) => {
        expect(scan(reply, cuts)).toMatchObject({ outcome: 'done', status: 200, body: 'value a', closes: false })
      }),
    )
    expect(scan(`${reply}x`)).toMatchObject({ outcome: 'done', body: 'value a', scanner: { left: 1 } })
    for (let length = 1; length < reply.length; length++) expect(scan(reply.slice(0, length)).outcome).toBe('more')
  })

  it.each(Object.entries(whole))('reads %s replies one after the other however they are cut', (_, reply) => {
    fc.assert(
      fc.property(fc.array(fc.nat(3 * reply.length), { maxLength: 12 }), (cuts) => {
        const bytes = Buffer.from(reply.repeat(3))
        const scanner = new ReplyScanner(true)
        const bodies: string[] = []
        let [from, begun] = [0, false]
        for (const to of [...cuts, bytes.length].sort((a, b) => a - b)) {
          const piece = Buffer.from(bytes.subarray(from, to))
          for (let at = 0; at < piece.length;) {
            if (!begun) scanner.begin(false)
            begun = scanner.feed(piece.subarray(at)) === 'more'
            if (!begun) bodies.push(scanner.body.toString())
            at = begun ? piece.length : piece.length - scanner.left
          }
          piece.fill('#')
          from = to
        }
        expect({ bodies, begun }).toEqual({ bodies: ['value a', 'value a', 'value a'], begun: false })
      }),
    )
  })

  it('recognises replies without a body', () => {
    expect(scan('HTTP/1.1 204 No Content\r\n\r\n')).toMatchObject({ outcome: 'done', status: 204, body: '' })
    expect(scan('HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n')).toMatchObject({ outcome: 'done', body: '' })
    expect(scan('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')).toMatchObject({ outcome: 'done', body: '' })
    expect(scan('HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n', [], true)).toMatchObject({ outcome: 'done', body: '' })
  })

  it('reads to the end of the connection if there is no length', () => {
    const { outcome, scanner, closes } = scan('HTTP/1.1 200 OK\r\n\r\nvalue a', [20, 22])
    expect({ outcome, closes }).toEqual({ outcome: 'more', closes: true })
    expect(scanner.end()).toBe(true)
    expect(scanner.body.toString()).toBe('value a')
    expect(scan('HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nval').scanner.end()).toBe(false)
  })

  it('detects that the server ends the connection', () => {
    const closes = (line: string, header: string) => scan(`${line}\r\nContent-Length: 0\r\n${header}\r\n\r\n`).closes
    expect(closes('HTTP/1.1 200 OK', 'Connection: close')).toBe(true)
    expect(closes('HTTP/1.1 200 OK', 'Connection: keep-alive')).toBe(false)
    expect(closes('HTTP/1.0 200 OK', 'X: y')).toBe(true)
    expect(closes('HTTP/1.0 200 OK', 'Connection: keep-alive')).toBe(false)
  })

  it.each(['HELLO\r\n\r\n', 'HTTP/2 200\r\n\r\n', 'HTTP/1.1 101 x\r\n\r\n', `${CHUNKED}z\r\n`, `${CHUNKED}1\r\nabc`])(
    'refuses %j',
    (reply) => expect(scan(reply).outcome).toBe('broken'),
  )
})
