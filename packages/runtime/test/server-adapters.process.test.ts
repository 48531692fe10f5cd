import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { embed } from '../src/supervisor/embed.ts'
import type { RunningService } from '../src/supervisor/service-host.ts'
import { SERVERS } from '../src/settings/settings.ts'
import { counter } from './fixtures/services.ts'
import { runExchange } from './support/exchange.ts'
import { ALLOWED_ORIGIN, CHANGE_TOKEN, READ_TOKEN } from './support/odd-requests/fields.ts'
import { oddCase, sliceChunks, splitCase, type OddCase } from './support/odd-requests/odd-requests.ts'

const CASES = Number(process.env.SERVER_CASES ?? 1_000)
const SEED = Number(process.env.SERVER_SEED ?? Math.trunc(Math.random() * 2 ** 31))
// Number of cases that run at the same time.
const LANE_COUNT = 8

const GUARDED = { apiToken: CHANGE_TOKEN, readToken: READ_TOKEN, corsOrigins: ALLOWED_ORIGIN }
// No timeout ends a slow request: another test covers that.
const LENIENT_TIMEOUTS = { headersTimeout: 600_000, requestTimeout: 600_000 }

const running: RunningService[] = []
const ports = new Map<string, number>()

beforeAll(async () => {
  for (const server of SERVERS) {
    for (const guarded of [false, true]) {
      const service = await embed(counter, { hot: 'yes', server, ...LENIENT_TIMEOUTS, ...(guarded && GUARDED) })
      running.push(service)
      ports.set(`${server} ${guarded}`, Number(new URL(service.url).port))
    }
  }
})
afterAll(() => Promise.all(running.map((service) => service.stop())))

/** A readable form: long repetitions are shortened. */
const shown = (value: unknown) =>
  JSON.stringify(value, undefined, 1).replace(
    /(.{1,12}?)\1{40,}/g,
    (all, part: string) => `${part}{x${all.length / part.length}}`,
  )

/** Reports the seed and the path that reproduce a failure. */
function report({ failed, seed, counterexamplePath, counterexample, errorInstance }: fc.RunDetails<[OddCase]>): void {
  if (!failed) return
  throw new Error(
    `seed ${seed}, path "${counterexamplePath}"\n${shown(counterexample)}\n${(errorInstance as Error)?.message}`,
  )
}

// For a head that is too large, Node reports only the bytes of its last read.
const TOO_LARGE = /HTTP\/1.1 (414|431) [^]*$/

/** The replies of a server to a case that is sent in these pieces. */
async function getReplies(
  server: string,
  one: OddCase,
  pieces: readonly string[],
  isHandedOver = false,
): Promise<string> {
  const { halfCloses } = one
  const port = ports.get(`${server} ${one.guarded}`)!
  const { isRaw: _, ...seen } = await runExchange(port, pieces, { halfCloses, isHandedOver })
  const isCut = one.cuts !== 'none' && one.cuts !== 'requests'
  return shown(isCut ? { ...seen, text: seen.text.replace(TOO_LARGE, 'too large') } : seen)
}

const MALFORMED = /HTTP\/1.1 400 Bad Request[^]*$/

/** True if Node refuses an incomplete head whose end the raw server still awaits. Node gets that head a second later. */
function isHeadPending(raw: string, fastify: string, sent: string): boolean {
  if (sent.endsWith('\r\n\r\n') || !MALFORMED.test(fastify)) return false
  const [waiting, refused] = [raw, fastify].map((seen) => JSON.parse(seen) as { text: string; isOpen: boolean })
  return waiting!.isOpen && !refused!.isOpen && waiting!.text === refused!.text.replace(MALFORMED, '')
}

/** Fails if two servers differ, and shows the position. */
function expectAlike(seen: string, expected: string, server: string): void {
  if (seen === expected) return
  const from = Math.max(0, [...seen].findIndex((letter, i) => letter !== expected[i]) - 200)
  expect.fail(
    `${server} says\n${seen.slice(from, from + 600)}\nwhere fastify says\n${expected.slice(from, from + 600)}`,
  )
}

/** The beginning of a stream: a broken request after it cuts it off at any time. */
const begun = (seen: string) => seen.replaceAll(/data: \d(\\n)+/g, '')

/**
 * The adapter `raw` answers good requests even if a broken one follows in the same read, while Node drops their
 * replies. Therefore Fastify gets each request in a separate read. After a request that `raw` hands over to Node, the
 * rest may also match Fastify with the pieces that `raw` received.
 */
async function check(one: OddCase): Promise<void> {
  const separate = one.requests.flat()
  const pieces = splitCase(one)
  const [raw, nodeHttp, fastify] = await Promise.all([
    getReplies('raw', one, pieces),
    getReplies('node-http', one, separate),
    getReplies('fastify', one, separate),
  ])
  expectAlike(nodeHttp, fastify, 'node-http')
  if (raw === fastify || isHeadPending(raw, fastify, pieces.join(''))) return
  for (let whole = 0; whole < one.requests.length; whole++) {
    const first = one.requests.slice(0, whole).flat()
    const rest = sliceChunks(pieces, first.join('').length)
    for (const isHandedOver of [true, false])
      if (begun(raw) === begun(await getReplies('fastify', one, [...first, ...rest], isHandedOver))) return
  }
  expectAlike(raw, fastify, 'raw')
}

test.each(Array.from({ length: LANE_COUNT }, (_, worker) => worker))(
  'every server answers any requests alike (%i)',
  { concurrent: true, timeout: CASES * 100 },
  async (worker) => {
    const property = fc.asyncProperty(oddCase, check)
    await fc.assert(property, {
      numRuns: Math.ceil(CASES / LANE_COUNT),
      seed: SEED + worker,
      asyncReporter: async (run) => report(run),
    })
  },
)

const HOST = 'Host: localhost\r\n'
const put = `PUT /items/ab HTTP/1.1\r\n${HOST}Content-Length: 3\r\n\r\nabc`
const view = `GET /items/ab/view HTTP/1.1\r\n${HOST}Accept: */*\r\n\r\n`

test('100 Continue comes before the reply, also after a reply that is still pending', async () => {
  const first = 'GET /items/ab/view HTTP/1.1\r\n\r\n'
  const waiting = 'GET /large/bytes HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n\r\n'
  for (const cuts of ['none', 'requests'] as const)
    await check({ guarded: false, requests: [[first], [waiting]], cuts, halfCloses: false })
})

test.each([
  ['another length', '2', 'X-A: 1'],
  ['no length', '', 'X-A: 1'],
  ['a length that is no number', '3x', 'X-A: 1'],
  ['a length of 16 digits', '3'.repeat(16), 'X-A: 1'],
  ['another field behind the length', '3', 'X-A: 2'],
  ['another field of the same name', '3', 'X-A: 1\r\nX-a: 1'],
  ['the end of the connection', '3', 'Connection: close'],
])('does not reuse the fields of the previous request: %s', async (_what, length, field) => {
  const put = (size: string, last: string) =>
    `PUT /items/ab HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${size}\r\n${last}\r\n\r\n`
  const requests = [[`${put('3', 'X-A: 1')}abc`], [`${put(length, field)}abc`]]
  await check({ guarded: false, requests, cuts: 'requests', halfCloses: false })
  await check({ guarded: false, requests, cuts: 'none', halfCloses: false })
})

test.each([
  ['a GET', [view]],
  ['a HEAD', [view.replace('GET', 'HEAD')]],
  ['a body', [put]],
  [
    'a body of a type',
    [put.replace('PUT /items/ab', 'POST /search').replace('\r\n', '\r\nContent-Type: application/json\r\n')],
  ],
  ['a DELETE', [view.replace('GET /items/ab/view', 'DELETE /plain/ab')]],
  ['an answer that takes its time', [view.replace('/items/ab/view', '/later/3')]],
  ['a fault', [view.replace('/items/ab/view', '/hot-throw')]],
  [
    'a pipeline',
    [
      view +
        put +
        view.replace('/items/ab/view', '/later/3') +
        put.replace('/items', '/later').replace('ab', '1') +
        view,
    ],
  ],
  [
    'some pieces',
    [view.slice(0, 5), view.slice(5, 30), view.slice(30) + put.slice(0, 40), put.slice(40, -1), put.slice(-1)],
  ],
])('the adapter raw itself answers %s', async (_what, pieces) => {
  const { isRaw, isOpen, text } = await runExchange(ports.get('raw false')!, pieces)
  expect({ isRaw, isOpen, replies: text.match(/HTTP\/1.1 /g)?.length }).toEqual({
    isRaw: true,
    isOpen: true,
    replies: pieces.join('').match(/HTTP\/1.1\r/g)?.length,
  })
})
