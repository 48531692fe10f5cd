import * as fc from 'fast-check'
import { HOT_BODY_LIMIT } from '../fixtures/hot-routes.ts'

/** Where pages may come from that the guarded configuration allows. */
export const ALLOWED_ORIGIN = 'https://app.example'
export const READ_TOKEN = 'read'
export const CHANGE_TOKEN = 'change'

/** A request as text, a character a byte, in the parts that a server reads one after the other. */
export type OddRequest = readonly string[]

/** Mostly the first, which is also what a case shrinks to. */
const mostly = <T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>, weight = 12): fc.Arbitrary<T> =>
  fc.oneof({ withCrossShrink: true }, { weight, arbitrary: usual }, { weight: 1, arbitrary: odd })
const one = <T>(...values: T[]) => fc.constantFrom(...values)

const places = one(
  'GET /items/ab/view',
  'GET /items/none/view',
  'GET /headers',
  'GET /find?q=abc',
  'PUT /items/ab',
  'POST /search',
  'DELETE /items/ab',
  'DELETE /plain/ab',
  'GET /later/0',
  'GET /later/2',
  'PUT /later/1',
  'GET /later-fault/0',
  'GET /later-fault/1',
  'GET /problem',
  'GET /hot-throw',
  'GET /text',
  'GET /latin1',
  'GET /large/bytes',
  'GET /large/text',
  'HEAD /large/bytes',
  'HEAD /text',
  'GET /nothing',
  'GET /stream/0',
  'GET /stream/2',
  'GET /value',
  'GET /unknown',
  'GET /',
  'GET /readyz',
  'OPTIONS /items/ab',
  'OPTIONS /headers',
  'PATCH /items/ab',
)

const methods = mostly(
  one('HEAD', 'GET', 'PUT', 'POST', 'DELETE', 'OPTIONS'),
  one(
    'PATCH',
    'TRACE',
    'CONNECT',
    'QUERY',
    'PROPFIND',
    'get',
    'Get',
    'GETX',
    'GE',
    'PRI',
    'M-SEARCH',
    'SOURCE',
    '',
    ' GET',
    '\r\nGET',
    '\nGET',
  ),
  6,
)

const queryOf = (path: string) => (path.includes('?') ? '&' : '?')
const oddTargets: ((target: string) => string)[] = [
  (target) => `${target}?`,
  (target) => `${target}${queryOf(target)}x=1`,
  (target) => `${target}${queryOf(target)}q=%61`,
  (target) => `${target}#part`,
  (target) => `${target}#`,
  (target) => `#${target}`,
  (target) => `${target};x=1`,
  (target) => `${target};`,
  (target) => target.replace('?', ';'),
  (target) => target.replace('/items', '/items;v=1'),
  (target) => `${target}/`,
  (target) => `/${target}`,
  (target) => target.replaceAll('/', '//'),
  (target) => `/.${target}`,
  (target) => `/x/..${target}`,
  (target) => target.toUpperCase(),
  (target) => target.replace('a', '%61'),
  (target) => target.replace('e', '%65'),
  (target) => target.replace('e', '%'),
  (target) => target.replace('e', '%zz'),
  (target) => target.replace('e', '%00'),
  (target) => target.replace('e', '%FF'),
  (target) => target.replace(/(?<=.)\//, '%2F'),
  (target) => target.replace('ab', ''),
  (target) => target.replace('ab', 'a%2Fb'),
  (target) => target.replace('ab', 'a+b'),
  (target) => target.replace('ab', 'a b'),
  (target) => target.replace('ab', 'a\tb'),
  (target) => target.replace('ab', 'a\0b'),
  (target) => target.replace('ab', 'a\x7fb'),
  (target) => target.replace('ab', 'a\x01b'),
  (target) => target.replace('ab', 'a\xe9b'),
  (target) => target.replace('ab', '\xc3\xa9'),
  (target) => target.replace('ab', '"<>\\^`{|}'),
  (target) => target.replace('ab', 'a'.repeat(64)),
  (target) => target.replace('ab', 'a'.repeat(65)),
  (target) => target.replace('abc', ''),
  (target) => target.replace('q=abc', 'q'),
  (target) => target.replace('q=abc', 'q=a&q=b'),
  (target) => target.replace('q=abc', `q=${'a'.repeat(21)}`),
  (target) => target.replace('q=abc', 'q=abc&'),
  (target) => target.replace('q=abc', '&q=abc'),
  (target) => target.replace('q=abc', 'q=abc#x'),
  (target) => `http://localhost${target}`,
  (target) => `HTTP://LOCALHOST:80${target}`,
  (target) => `http://evil.example${target}`,
  (target) => `http://user@localhost${target}`,
  (target) => `https://localhost${target}`,
  (target) => `//localhost${target}`,
  (target) => `${target}${queryOf(target)}${'x'.repeat(8_100)}`,
  (target) => `${target}${queryOf(target)}${'x'.repeat(17_000)}`,
  (target) => `/${'x'.repeat(9_000)}`.concat(target),
  () => '*',
  () => '',
  () => 'localhost:80',
  () => 'localhost',
  (target) => target.slice(1),
  (target) => `\\${target}`,
]

const targets = (target: string) =>
  mostly(
    fc.constant(target),
    fc.constantFrom(...oddTargets).map((change) => change(target)),
    4,
  )

const versions = mostly(
  fc.constant('HTTP/1.1'),
  one(
    'HTTP/1.0',
    'HTTP/1.2',
    'HTTP/2.0',
    'HTTP/0.9',
    'HTTP/1',
    'HTTP/1.',
    'http/1.1',
    'HTTP/01.1',
    'HTTP/1.1 ',
    'ICE/1.0',
    'RTSP/1.0',
    '',
  ),
  15,
)
const gaps = mostly(fc.constant(' '), one('  ', '\t', '', ' \t'), 60)
const lineEnds = mostly(
  fc.constant('\r\n'),
  one('\n', '\r', '\r\r\n', '\n\r', ' \r\n', '\x0b\r\n', '\0\r\n', '\r\n\r\n'),
  60,
)
const colons = mostly(fc.constant(': '), one(':', ':\t', ':   ', ': \t ', ' : ', '\t:', '', ' ', ':\r\n ', '::'), 40)

const hosts = mostly(
  one(['localhost'], ['127.0.0.1'], ['LocalHost:8080']),
  one<string[]>(
    [],
    ['localhost', 'localhost'],
    ['localhost', 'evil.example'],
    ['evil.example', 'localhost'],
    ['evil.example'],
    [''],
    ['', 'localhost'],
    [' localhost '],
    ['localhost:'],
    ['localhost:99999'],
    ['[::1]:80'],
    ['loc alhost'],
    ['localhost, evil.example'],
    ['localhost/'],
    ['user@localhost'],
    ['localhost\0'],
    ['localhost\x80'],
    ['localhost.'],
    ['app.example'],
  ),
  8,
)

const ordinary = one(
  'user-agent: test',
  'accept: */*',
  'accept: text/plain',
  'accept-encoding: gzip, br',
  'accept-language: de',
  'cookie: a=1; b=2',
  'cookie: c=3',
  'referer: http://localhost/',
  'range: bytes=0-3',
  'if-modified-since: Sun, 06 Nov 1994 08:49:37 GMT',
  'connection: keep-alive',
  'Connection: Keep-Alive',
  'x-a: 1',
  'x-a: 2',
  'x-empty:',
  'X-Forwarded-For: 10.0.0.1',
  'x-tab: a\tb',
  'x-obs: \x80\xe9\xff',
  'x-lead: \t  a  \t ',
  'set-cookie: a=1',
  'content-length-x: 5',
  `x-long: ${'y'.repeat(3_000)}`,
)
const conditions = one(
  'if-none-match: "v-ab"',
  'if-none-match: W/"v-ab"',
  'if-none-match: "x", "v-ab"',
  'if-none-match: "x","v-ab",',
  'if-none-match: "x, "v-ab"',
  'if-none-match: *',
  'if-none-match: v-ab',
  'if-none-match: ',
  'if-none-match: "later"',
  'if-none-match: "text"',
  'if-none-match: "large"',
  'If-None-Match: "y"',
  'if-match: "v-ab"',
  'if-match: *',
  'if-match: "x"',
)
const who = one(
  `origin: ${ALLOWED_ORIGIN}`,
  'origin: https://evil.example',
  'origin: http://localhost',
  'origin: http://LOCALHOST',
  'origin: null',
  'origin: ',
  'sec-fetch-site: cross-site',
  'sec-fetch-site: same-site',
  'sec-fetch-site: same-origin',
  'authorization: Bearer wrong',
  'authorization: bearer   read',
  'authorization: Basic cmVhZA==',
  'authorization: ',
  'access-control-request-method: PUT',
  'access-control-request-headers: authorization',
  'access-control-request-private-network: true',
)
const odd = one(
  'connection: close',
  'Connection: Close',
  'connection: close, keep-alive',
  'connection: keep-alive, x-a',
  'connection: keep-alive,',
  'connection: keep-alive\t',
  'connection: upgrade',
  'connection: upgrade, http2-settings',
  'connection: te',
  'connection: ',
  'connection: x',
  'proxy-connection: close',
  'proxy-connection: keep-alive',
  'keep-alive: timeout=1',
  'upgrade: h2c',
  'upgrade: websocket',
  'upgrade: ',
  'http2-settings: AAMAAABkAARAAAAAAAIAAAAA',
  'expect: 100-continue',
  'Expect: 100-Continue',
  'expect: 200-ok',
  'expect: ',
  'te: trailers',
  'trailer: x-a',
  'content-length: 0',
  'transfer-encoding: identity',
  'host: localhost',
  'constructor: x',
  '__proto__: x',
  'tostring: x',
  'nocolon',
  ': noname',
  ' x-lead: a',
  'x-space : a',
  'x name: a',
  'x(y): a',
  'x"y: a',
  'x\x80: a',
  'x-fold: a\r\n b',
  'x-fold: a\r\n\tb',
  'x-fold:\r\n b',
  'x-cr: a\rb',
  'x-lf: a\nb',
  'x-lf: a\nx-b: c',
  'x-end: a\r',
  'x-nul: a\0b',
  'x-ctl: a\x01b',
  'x-esc: a\x1bb',
  'x-del: a\x7fb',
  'x-vt: \x0ba',
  `x-long: ${'y'.repeat(8_200)}`,
  `x-long: ${'y'.repeat(17_000)}`,
  Array.from({ length: 60 }, (_, i) => `x-${i}: ${i}`).join('\r\n'),
  Array.from({ length: 1_500 }, (_, i) => `a${i % 10}:${i % 7}`).join('\r\n'),
  Array.from({ length: 2_100 }, () => 'a:').join('\r\n'),
)
const fields = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: ordinary },
    { weight: 4, arbitrary: conditions },
    { weight: 2, arbitrary: who },
    { weight: 1, arbitrary: odd },
  ),
  { maxLength: 5 },
)

const tokens = mostly(one(CHANGE_TOKEN, READ_TOKEN), one('', 'wrong'), 8)

const bodies = fc.oneof(
  { weight: 3, arbitrary: one('{"a":1}', 'x', '', '\xe9\0\xff\r\n\r\n') },
  {
    weight: 1,
    arbitrary: one(
      'GET /items/zz/view HTTP/1.1\r\nHost: localhost\r\n\r\n',
      'x'.repeat(2_000),
      'y'.repeat(70_000),
      'z'.repeat(140_000),
      'z'.repeat(HOT_BODY_LIMIT + 1),
    ),
  },
)
const types = mostly(
  one(undefined, 'application/json', 'text/plain'),
  one(
    'application/json; charset=utf-8',
    'application/json;charset=utf-8',
    'application/JSON',
    'Application/json',
    'application/json,text/plain',
    'application/json ',
    'application',
    'application/',
    '/json',
    '',
    'text/html; charset="x',
    'text/plain; charset=utf-8',
    'multipart/form-data; boundary=x',
    'application/octet-stream',
    'application/x-www-form-urlencoded',
    'a/b/c',
    'application/\xe9',
    '*/*',
    'application/vnd.a+json',
  ),
  3,
)

/** How a body is announced: the fields for that, and the body as it goes out, in parts. */
interface Framed {
  readonly fields: readonly string[]
  readonly body: readonly string[]
}

const chunked = (body: string, extension = '') =>
  body === '' ? '0\r\n\r\n' : `${body.length.toString(16)}${extension}\r\n${body}\r\n0\r\n\r\n`
const framings: ((body: string) => Framed)[] = [
  (body) => ({ fields: [`content-length: ${body.length}`], body: [body] }),
  (body) => ({ fields: [`Content-Length:${body.length}`], body: [body] }),
  () => ({ fields: [], body: [''] }),
  () => ({ fields: ['content-length: 0'], body: [''] }),
]
const oddFramings: ((body: string) => Framed)[] = [
  (body) => ({ fields: [], body: ['', body] }),
  (body) => ({ fields: [`content-length: +${body.length}`], body: [body] }),
  (body) => ({ fields: [`content-length: -${body.length}`], body: [body] }),
  (body) => ({ fields: [`content-length: 00${body.length}`], body: [body] }),
  (body) => ({ fields: [`content-length: 0x${body.length.toString(16)}`], body: [body] }),
  (body) => ({ fields: [`content-length: ${body.length} `], body: [body] }),
  (body) => ({ fields: [`content-length: ${body.length};`], body: [body] }),
  (body) => ({ fields: [`content-length: ${body.length}.0`], body: [body] }),
  (body) => ({ fields: [`content-length: 1 ${body.length}`], body: [body] }),
  (body) => ({ fields: [`content-length: ${body.length}, ${body.length}`], body: [body] }),
  (body) => ({ fields: [`content-length: ${body.length}`, `content-length: ${body.length}`], body: [body] }),
  (body) => ({ fields: [`content-length: ${body.length}`, 'content-length: 0'], body: [body] }),
  (body) => ({ fields: ['content-length:'], body: [body] }),
  () => ({ fields: ['content-length: 999999999999999'], body: ['x'] }),
  () => ({ fields: ['content-length: 99999999999999999999999'], body: ['x'] }),
  (body) => ({
    fields: [`content-length: ${Math.max(0, body.length - 1)}`],
    body: [body.slice(0, -1), body.slice(-1)],
  }),
  (body) => ({ fields: [`content-length: ${body.length + 1}`], body: [body] }),
  (body) => ({ fields: [`content-length: ${body.length + 30}`], body: [body] }),
  (body) => ({ fields: ['transfer-encoding: chunked'], body: [chunked(body)] }),
  (body) => ({ fields: ['Transfer-Encoding: Chunked'], body: [chunked(body, ';x=1')] }),
  (body) => ({ fields: ['transfer-encoding: chunked'], body: [chunked(body).slice(0, -2)] }),
  (body) => ({ fields: ['transfer-encoding: chunked'], body: [chunked(body).slice(0, -2) + 'x-t: 1\r\n\r\n'] }),
  (body) => ({ fields: ['transfer-encoding: chunked'], body: [body] }),
  (body) => ({ fields: ['transfer-encoding: chunked'], body: [chunked(body).replaceAll('\r\n', '\n')] }),
  (body) => ({ fields: ['transfer-encoding: chunked', 'transfer-encoding: chunked'], body: [chunked(body)] }),
  (body) => ({ fields: ['transfer-encoding: gzip, chunked'], body: [chunked(body)] }),
  (body) => ({ fields: ['transfer-encoding: chunked, gzip'], body: [chunked(body)] }),
  (body) => ({ fields: ['transfer-encoding: xchunked'], body: [chunked(body)] }),
  (body) => ({ fields: ['transfer-encoding:'], body: [chunked(body)] }),
  (body) => ({ fields: ['transfer-encoding : chunked'], body: [chunked(body)] }),
  (body) => ({ fields: ['transfer-encoding: chunked', `content-length: ${body.length}`], body: [chunked(body)] }),
  (body) => ({ fields: [`content-length: ${body.length}`, 'transfer-encoding: chunked'], body: [chunked(body)] }),
]
const framingOf = (method: string) => {
  const usual = method === 'PUT' || method === 'POST' ? framings.slice(0, 2) : framings.slice(2)
  return mostly(fc.constantFrom(...usual), fc.constantFrom(...framings, ...oddFramings), 5)
}

/** One request, mostly a good one. Those of one case may share their fields, as those of a real client do. */
function request(shared: fc.Arbitrary<readonly string[]>): fc.Arbitrary<OddRequest> {
  return places.chain((place) => {
    const [usual, target] = place.split(' ') as [string, string]
    return mostly(fc.constant(usual), methods, 6).chain((method) =>
      fc
        .record({
          target: targets(target),
          version: versions,
          gaps: fc.tuple(gaps, gaps),
          ends: fc.tuple(lineEnds, lineEnds),
          fields: shared,
          type: types,
          body: bodies,
          frame: framingOf(method),
        })
        .map((parts) => {
          const { fields: sent, body } = parts.frame(parts.body)
          const type = parts.type === undefined || sent.length === 0 ? [] : [`content-type: ${parts.type}`]
          const lines = [...parts.fields, ...type, ...sent]
          const first = method + parts.gaps[0] + parts.target + parts.gaps[1] + parts.version
          const head = `${first}${parts.ends[0]}${lines.map((line) => `${line}\r\n`).join('')}${parts.ends[1]}`
          return [head + body[0], ...body.slice(1).filter(Boolean)]
        }),
    )
  })
}

/** The fields before those of the body. */
const headers = fc
  .record({ hosts, colon: colons, fields, token: tokens, hostLast: fc.boolean(), end: lineEnds })
  .map(({ hosts: names, colon, fields: others, token, hostLast, end }) => {
    const host = names.map((name) => `Host${colon}${name}${end === '\r\n' ? '' : end.replace(/\r\n$/, '')}`)
    const authorization = token === '' ? [] : [`authorization: Bearer ${token}`]
    return hostLast ? [...authorization, ...others, ...host] : [...host, ...others, ...authorization]
  })

/** What one client does on one connection. */
export interface OddCase {
  readonly guarded: boolean
  readonly requests: readonly OddRequest[]
  /** The pieces that it sends to the door: of the whole text, wherever requests end. */
  readonly cuts: 'none' | 'requests' | 'bytes' | readonly number[]
  readonly halfCloses: boolean
}

const requests = fc.oneof(
  { weight: 2, arbitrary: fc.array(request(headers), { minLength: 1, maxLength: 4 }) },
  {
    weight: 2,
    arbitrary: headers.chain((same) =>
      fc.array(request(mostly(fc.constant(same), headers, 4)), { minLength: 2, maxLength: 5 }),
    ),
  },
)

export const oddCase: fc.Arbitrary<OddCase> = fc.record({
  guarded: fc.boolean(),
  requests,
  cuts: fc.oneof(
    { weight: 3, arbitrary: one<OddCase['cuts']>('none', 'requests') },
    { weight: 3, arbitrary: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 6 }) },
    { weight: 1, arbitrary: fc.constant<OddCase['cuts']>('bytes') },
  ),
  halfCloses: fc.boolean(),
})

// More pieces say no more, and take long.
const MOST_PIECES = 120

/** The pieces of a case, as it is sent to the door. */
export function piecesOf({ requests: all, cuts }: OddCase): string[] {
  const whole = all.map((parts) => parts.join('')).join('')
  if (cuts === 'none') return [whole]
  if (cuts === 'requests') return all.map((parts) => parts.join('')).filter(Boolean)
  if (cuts === 'bytes') return [...whole.slice(0, MOST_PIECES), whole.slice(MOST_PIECES)].filter(Boolean)
  const ends = [...cuts.map((cut) => Math.round(cut * whole.length)), whole.length].toSorted((a, b) => a - b)
  return ends.map((end, i) => whole.slice(ends[i - 1] ?? 0, end)).filter(Boolean)
}

/** What is left of pieces behind their first bytes. */
export function piecesFrom(pieces: readonly string[], length: number): string[] {
  let at = 0
  return pieces.flatMap((piece) => {
    const rest = piece.slice(Math.max(0, length - at))
    at += piece.length
    return rest === '' ? [] : [rest]
  })
}
