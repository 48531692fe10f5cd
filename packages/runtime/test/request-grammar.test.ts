import * as fc from 'fast-check'
import { createServer } from 'node:http'
import { duplexPair } from 'node:stream'
import { expect, test } from 'vitest'
import { isBeginning, MAX_HEAD_BYTES, readFields, readRequestLine } from '../src/http/server/request-grammar.ts'

interface ParsedHead {
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, unknown>>
  readonly length: number
}

/** The result of the adapter `raw` for a head. */
function readByAdapter(head: string): ParsedHead | undefined {
  const line = readRequestLine(head, 0)
  const fields = line && readFields(head.slice(line.end))
  if (!fields) return undefined
  const length = Number(head.slice(line.end + fields.before.length, head.length - fields.after.length))
  return { method: line.method, target: line.target, headers: { ...fields.headers }, length }
}

/** The result of Node for a text that starts with a head; `undefined` if Node refuses it or the head is incomplete. */
async function readByNode(text: string): Promise<ParsedHead | undefined> {
  const [clientEnd, serverEnd] = duplexPair()
  const server = createServer({ requireHostHeader: false })
  const read = new Promise<ParsedHead | undefined>((resolve) => {
    server.on('request', ({ method, url, headers: { 'content-length': length = 0, ...headers } }) =>
      resolve({ method: method!, target: url!, headers, length: Number(length) }),
    )
    server.on('clientError', () => resolve(undefined))
    server.emit('connection', serverEnd)
    clientEnd.end(text, 'latin1')
    serverEnd.on('end', () => setImmediate(resolve, undefined))
  })
  const head = await read
  clientEnd.destroy()
  serverEnd.destroy()
  return head
}

const letters = (...ranges: [number, number][]) =>
  fc.oneof(...ranges.map(([min, max]) => fc.integer({ min, max }))).map((code) => String.fromCharCode(code))
const text = (letter: fc.Arbitrary<string>, minLength: number, maxLength: number) =>
  fc.array(letter, { minLength, maxLength }).map((all) => all.join(''))

const token = text(fc.constantFrom(..."abcXYZ019!#$%&'*+-.^_`|~"), 1, 8)
const value = text(fc.oneof(letters([33, 126], [128, 255]), fc.constantFrom(' ', '\t', '"', ',')), 0, 12)
const space = fc.constantFrom(' ', '', '\t', '  \t ')
const usual = fc.constantFrom(
  'connection: keep-alive',
  'Connection:Keep-Alive',
  'content-length: 0',
  'Content-Length: 12',
  'content-type: text/plain',
  'if-none-match: *',
  'accept: */*',
  'cookie: a=1',
  'authorization: Bearer x',
)
const field = fc.oneof(
  usual,
  fc.tuple(token, space, value, space).map(([name, before, content, after]) => `${name}:${before}${content}${after}`),
)
const target = text(letters([33, 34], [36, 126]), 0, 20).map((path) => `/${path}`)
/** Valid heads without repeated fields and without fields of special meaning. */
const head = fc
  .record({
    method: fc.constantFrom('GET', 'HEAD', 'PUT', 'POST', 'DELETE'),
    target,
    fields: fc.array(field, { maxLength: 5 }),
    hostAt: fc.nat(5),
  })
  .map((parts) => {
    const fields = parts.fields.toSpliced(parts.hostAt, 0, 'Host: localhost')
    return `${parts.method} ${parts.target} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`
  })

const bad = fc.constantFrom(
  ...'\0\x01\x0b\x1b\x7f\r\n :\t"(\xff',
  '\r\n',
  '\r\n ',
  '\r\n\r\n',
  ' HTTP/1.1',
  'Host: x\r\n',
)
/** The same heads with forbidden bytes. */
const spoilt = fc
  .tuple(head, bad, fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(2))
  .map(([good, odd, where, cut]) => {
    const at = Math.floor(where * good.length)
    return good.slice(0, at) + odd + good.slice(at + cut)
  })

test('the adapter raw and Node read a head alike', async () => {
  let accepted = 0
  await fc.assert(
    fc.asyncProperty(fc.oneof(head, spoilt), async (one) => {
      const end = one.indexOf('\r\n\r\n') + 4
      const parsed = end > 4 ? readByAdapter(one.slice(0, end)) : undefined
      if (!parsed) return
      accepted++
      expect(await readByNode(one.slice(0, end) + 'x'.repeat(parsed.length))).toEqual(parsed)
    }),
    { numRuns: 2_000 },
  )
  expect(accepted).toBeGreaterThan(500)
})

test('every prefix of a head is a beginning, and a whole head is not', () => {
  fc.assert(
    fc.property(head, (one) => {
      for (let end = 1; end < one.length; end++)
        expect([one.slice(0, end), isBeginning(one.slice(0, end), 0)]).toEqual([one.slice(0, end), true])
      expect(isBeginning(one, 0)).toBe(false)
      expect(isBeginning(`xx${one.slice(0, 9)}`, 2)).toBe(true)
    }),
  )
})

test.each([
  'get',
  'GETX',
  'PATCH',
  'XYZ',
  'G ',
  'GET  ',
  'GET x',
  'GET http://localhost/',
  'GET /a#',
  'GET /\0',
  'GET /\x7f',
  'GET /\x80',
  'GET / \r',
  'GET / HTTP/1.0',
  'GET / HTTP/1.1 ',
  'GET / HTTPS',
  'GET / HTTP/1.1\n',
  'GET / HTTP/1.1\r\r',
  'GET / HTTP/1.1\r\n ',
  'GET / HTTP/1.1\r\n:',
  'GET / HTTP/1.1\r\nhost ',
  'GET / HTTP/1.1\r\nho st:',
  'GET / HTTP/1.1\r\nhost\r',
  'GET / HTTP/1.1\r\nhost: a\n',
  'GET / HTTP/1.1\r\nhost: a\rb',
  'GET / HTTP/1.1\r\nhost: a\r\n b',
  'GET / HTTP/1.1\r\nhost: \0',
  'GET / HTTP/1.1\r\nh\xe9: a',
  '\r\nGET /',
])('no valid request begins with %j', (beginning) => {
  expect(isBeginning(beginning, 0)).toBe(false)
  for (const end of ['\r\n\r\n', ' \r\n\r\n', 'x: y\r\n\r\n', ' HTTP/1.1\r\nhost: a\r\n\r\n'])
    expect(readByAdapter(`${beginning}${end}`)).toBeUndefined()
})

test('a head that is too long is not a beginning', () => {
  const long = `GET /${'x'.repeat(MAX_HEAD_BYTES - 5)}`
  expect([isBeginning(long, 0), isBeginning(`${long}x`, 0), isBeginning(`${long}x`, 1)]).toEqual([true, false, false])
})

test.each([
  ['no Host', 'accept: */*'],
  ['an empty Host', 'host: '],
  ['two Hosts', 'host: a\r\nhost: a'],
  ['another Connection', 'host: a\r\nconnection: close'],
  ['two Connections', 'host: a\r\nconnection: keep-alive\r\nconnection: close'],
  ['no number as a length', 'host: a\r\ncontent-length: +1'],
  ['an empty length', 'host: a\r\ncontent-length:'],
  ['two lengths', 'host: a\r\ncontent-length: 1\r\ncontent-length: 1'],
  ['a list of lengths', 'host: a\r\ncontent-length: 1, 1'],
  ['chunks', 'host: a\r\nTransfer-Encoding: chunked'],
  ['an upgrade', 'host: a\r\nupgrade: h2c'],
  ['an expectation', 'host: a\r\nexpect: 100-continue'],
  ['a trailer', 'host: a\r\ntrailer: x'],
  ['what an object has anyway', 'host: a\r\nconstructor: x'],
  ['space before the colon', 'host : a'],
  ['a folded line', 'host: a\r\nx: b\r\n c'],
])('%s is left to Node', (_what, lines) => {
  expect(readFields(`${lines}\r\n\r\n`)).toBeUndefined()
})

test('the time for a hostile head is linear in its length', () => {
  const runs = [' ', '\t', 'a ', ': ', 'a:', '\r\n', 'a:\r\n', 'a: b\r\n', '\xff', '/', '%', 'GET ', 'H', ',', '"']
  const around = ['', '\0', '\r', '\n', ' ', ':', '\r\n', '\r\n\r\n', ' HTTP/1.1\r\n']
  const start = process.threadCpuUsage().user
  let heads = 0
  for (const run of runs) {
    for (const before of ['', 'GET /', 'GET / HTTP/1.1\r\n', 'GET / HTTP/1.1\r\nx:', 'GET / HTTP/1.1\r\nx: y']) {
      for (const after of around) {
        const long = before + run.repeat(MAX_HEAD_BYTES / run.length) + after
        readRequestLine(long, 0)
        isBeginning(long.slice(0, MAX_HEAD_BYTES), 0)
        readFields(long.slice(before.indexOf('\n') + 1))
        heads++
      }
    }
  }
  // Each takes 50 us of a processor. An algorithm that tries every way to split 8,000 spaces takes 150 ms.
  expect((process.threadCpuUsage().user - start) / heads).toBeLessThan(2_000)
})
