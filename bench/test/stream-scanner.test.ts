import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { StreamScanner } from '../src/load/fleet/stream-scanner.ts'

type ScannedValue = readonly [number, number] | 'wrong'

/** Feeds a reply in pieces that end at these offsets, all in the same memory, as sockets do. */
function scan(reply: string, cuts: readonly number[] = [], around: readonly [string, string] = ['', '']) {
  const seen: ScannedValue[] = []
  const sink = {
    value: (sequence: number, due: number) => void seen.push([sequence, due]),
    wrong: () => void seen.push('wrong'),
  }
  const scanner = new StreamScanner(sink, around)
  const bytes = Buffer.from(reply)
  const memory = Buffer.alloc(bytes.length)
  let at = 0
  for (const end of [...cuts.map((cut) => cut % bytes.length), bytes.length].sort((a, b) => a - b)) {
    memory.fill('#')
    if (end > at) scanner.feed(memory.subarray(0, bytes.copy(memory, 0, at, end)))
    at = end
  }
  return { seen, state: scanner.state, end: scanner.end() }
}

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n'
const toPlain = (body: string) => `${HEAD}Connection: close\r\n\r\n${body}`
/** The body in chunks of these sizes, in turn. */
function toChunked(body: string, sizes: readonly number[]): string {
  const bytes = Buffer.from(body)
  const chunks: string[] = []
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const chunk = bytes.subarray(at, at + (sizes[i % sizes.length] ?? bytes.length))
    chunks.push(`${chunk.length.toString(16)}${i % 2 === 0 ? '' : ';x=y'}\r\n${chunk}\r\n`)
    at += chunk.length
  }
  return `${HEAD}Transfer-Encoding: chunked\r\n\r\n${chunks.join('')}0\r\n\r\n`
}

const values = fc.array(fc.tuple(fc.nat(), fc.nat(4_000_000_000)), { maxLength: 8 })
/** Lines that an event may contain besides its data. */
const anyLine = fc.constantFrom(
  '',
  'id: 7-12\n',
  ': data: 1.2\n',
  'event: message\n',
  'event\n',
  'dat: 1.2\n',
  'retry:5\n',
)
const pieces = fc.array(fc.nat(), { maxLength: 12 })

describe('stream scanner', () => {
  it('reads values in any framing and any pieces', () => {
    const around = fc.constantFrom<[string, string]>(['', ''], ['"', '"'], ['{"v":"', '"}'])
    const framing = fc.record({
      crlf: fc.boolean(),
      space: fc.boolean(),
      sizes: fc.array(fc.integer({ min: 1, max: 40 })),
    })
    fc.assert(
      fc.property(
        values,
        anyLine,
        pieces,
        around,
        framing,
        (all, line, cuts, [before, after], { crlf, space, sizes }) => {
          const events = all.map(
            ([sequence, due]) => `${line}data:${space ? ' ' : ''}${before}${sequence}.${due}${after}\n\n`,
          )
          const body = events.join('').replaceAll('\n', crlf ? '\r\n' : '\n')
          const open = scan(toPlain(body), cuts, [before, after])
          expect(open).toEqual({ seen: all, state: 'open', end: 'ended' })
          const ended = scan(toChunked(body, sizes), cuts, [before, after])
          expect(ended).toEqual({ seen: all, state: 'ended', end: 'ended' })
        },
      ),
    )
  })

  it('reads heads and events cut at every byte', () => {
    const reply = toChunked('retry: 100\n\nid: a-1\ndata: 3.14\n\nevent: closed\ndata: closed\n\n', [9])
    for (let cut = 1; cut < reply.length; cut++) {
      expect(scan(reply, [cut])).toEqual({ seen: [[3, 14]], state: 'ended', end: 'ended' })
    }
    const everywhere = Array.from({ length: reply.length }, (_, i) => i)
    expect(scan(reply, everywhere).seen).toEqual([[3, 14]])
  })

  it.each(['data: 3.14x', 'data: 3', 'data:', 'data: x3.1', 'data: 3.1.4', 'data: 3.1\ndata: 4.1', 'data: "3.1"'])(
    'calls wrong what is no value: %j',
    (event) => {
      expect(scan(toPlain(`${event}\n\ndata: 5.9\n\n`)).seen).toEqual(['wrong', [5, 9]])
    },
  )

  it.each([
    'event: closed\ndata: 1.2',
    'event:messages\ndata: 1.2',
    'event: mess\ndata: x',
    'data: 1.2\nevent: gap',
    'id: 1',
    '',
  ])('passes over what is no message: %j', (event) => {
    expect(scan(toPlain(`${event}\n\ndata: 5.9\n\n`)).seen).toEqual([[5, 9]])
  })

  it('ignores an incomplete event', () => {
    expect(scan(toPlain('data: 1.2\n')).seen).toEqual([])
  })

  it.each([
    'HTTP/1.1 503 Busy\r\nContent-Type: text/event-stream\r\n\r\ndata: 1.2\n\n',
    'HTTP/1.1 204 No Content\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\ndata: 1.2\n\n',
    'HELLO\r\n\r\n',
    `X: ${'y'.repeat(20_000)}`,
    `${HEAD}Transfer-Encoding: chunked\r\n\r\nz\r\n`,
    `${HEAD}Transfer-Encoding: chunked\r\n\r\n1\r\nabc`,
  ])('refuses %j', (reply) => {
    expect(scan(reply)).toMatchObject({ seen: [], state: 'broken' })
  })

  it('detects a cut chunked stream', () => {
    const reply = toChunked('data: 1.2\n\n', [])
    expect(scan(reply.slice(0, -5))).toMatchObject({ seen: [[1, 2]], state: 'open', end: 'broken' })
  })
})
