import { SERVERS } from '@influencer-stats/runtime/settings'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { describe, expect, it } from 'vitest'
import { HUB } from './support/mercure-client.ts'
import { MERCURE, sign, signAll, signLegacy, toBearerHeader } from './support/sign-tokens.ts'
import { startSse, type TestSse } from './support/test-sse.ts'

// Tokens of all services in the form of a JWT. They are still not verified as access tokens.
const API_TOKEN = 'change.a.b'
const READ_TOKEN = 'read.a.b'

const TOPICS = ['open', 'secret']
const ALL_TOPICS = 'open secret'

/**
 * The topics that a caller may read, list and put to, on the routes of all services and at the hub; `-` for a refusal
 * with 401. The value of topic `secret` is private if the service has keys.
 */
type Row = readonly [read: string, list: string, put: string, close: string, hubRead: string, hubPut: string]
const NO_RIGHTS: Row = ['-', '-', '-', '-', '-', '-']
const OPERATOR: Row = [ALL_TOPICS, ALL_TOPICS, ALL_TOPICS, 'yes', '-', '-']
const READER: Row = [ALL_TOPICS, ALL_TOPICS, '-', '-', '-', '-']
const SUBSCRIBER: Row = [ALL_TOPICS, ALL_TOPICS, '', '-', ALL_TOPICS, '']
const PUBLISHER: Row = ['open', 'open', 'secret', '-', 'open', 'secret']

const TABLE: Readonly<Record<string, { readonly settings: Record<string, string>; readonly rows: readonly Row[] }>> = {
  //                                    anonymous, READ_TOKEN, API_TOKEN, subscriber, publisher, unknown token
  'no tokens': { settings: {}, rows: [OPERATOR, OPERATOR, OPERATOR, OPERATOR, OPERATOR, OPERATOR] },
  API_TOKEN: { settings: { apiToken: API_TOKEN }, rows: [READER, READER, OPERATOR, READER, READER, READER] },
  'API_TOKEN and READ_TOKEN': {
    settings: { apiToken: API_TOKEN, readToken: READ_TOKEN },
    rows: [NO_RIGHTS, READER, OPERATOR, NO_RIGHTS, NO_RIGHTS, NO_RIGHTS],
  },
  'Mercure keys': { settings: MERCURE, rows: [NO_RIGHTS, NO_RIGHTS, NO_RIGHTS, SUBSCRIBER, PUBLISHER, NO_RIGHTS] },
  'Mercure keys, anonymous': {
    settings: { ...MERCURE, mercureAnonymous: 'on' },
    rows: [['open', 'open', '-', '-', 'open', '-'], NO_RIGHTS, NO_RIGHTS, SUBSCRIBER, PUBLISHER, NO_RIGHTS],
  },
  'Mercure keys and API_TOKEN': {
    settings: { ...MERCURE, apiToken: API_TOKEN },
    rows: [NO_RIGHTS, NO_RIGHTS, OPERATOR, SUBSCRIBER, PUBLISHER, NO_RIGHTS],
  },
  'Mercure keys, API_TOKEN, READ_TOKEN, anonymous': {
    settings: { ...MERCURE, apiToken: API_TOKEN, readToken: READ_TOKEN, mercureAnonymous: 'on' },
    // If reads require a token, no value is public.
    rows: [
      NO_RIGHTS,
      READER,
      OPERATOR,
      ['secret', 'secret', '', '-', 'secret', ''],
      ['', '', 'secret', '-', '', 'secret'],
      NO_RIGHTS,
    ],
  },
}

const PUBLISHER_KEY = 'the key of publishers, of 0.x tokens'
const SUBSCRIBER_KEY = 'the key of subscribers, of 0.x tokens'
const LEGACY = {
  mercureCompatibility: '8',
  mercurePublisherJwtKey: PUBLISHER_KEY,
  mercureSubscriberJwtKey: SUBSCRIBER_KEY,
  apiToken: API_TOKEN,
}

/** Rows of a 0.x token: the key of its signature decides whether it counts for reads or for changes. */
const LEGACY_SUBSCRIBER: Row = [ALL_TOPICS, ALL_TOPICS, '-', '-', ALL_TOPICS, '-']
const LEGACY_PUBLISHER: Row = ['-', '-', 'secret', '-', '-', 'secret']
const LEGACY_ROWS = [
  OPERATOR,
  LEGACY_SUBSCRIBER,
  LEGACY_PUBLISHER,
  LEGACY_SUBSCRIBER,
  LEGACY_PUBLISHER,
  // Grants to subscribe, signed with the key of publishers; and the reverse.
  ['-', '-', '', '-', '-', ''],
  ['open', 'open', '-', '-', 'open', '-'],
] as const satisfies readonly Row[]
const LEGACY_TABLE = {
  //                    anonymous, API_TOKEN, subscriber, publisher, cookies of both, both tokens with the other's key
  'keys of 0.x': { settings: LEGACY, rows: [NO_RIGHTS, ...LEGACY_ROWS] },
  'keys of 0.x, anonymous': {
    settings: { ...LEGACY, mercureAnonymous: 'on' },
    rows: [['open', 'open', '-', '-', 'open', '-'] as const, ...LEGACY_ROWS],
  },
}

/** Gives each topic a value and a stream. @param hubHeaders headers that allow everything at the hub, if there are keys */
async function prepare(sse: TestSse, hubHeaders: Headers | undefined, streamHeaders: Headers): Promise<void> {
  const headers = hubHeaders ?? toBearerHeader(API_TOKEN)
  for (const topic of TOPICS) {
    const update = new URLSearchParams({ topic, data: topic, ...(topic === 'secret' && { private: 'on' }) })
    const [path, body] = hubHeaders ? [HUB, update] : [`/put?topic=${topic}`, topic]
    expect((await sse.request('POST', path, { body, headers })).status).toBe(200)
    expect((await sse.open(`?topic=${topic}`, { headers: streamHeaders })).status).toBe(200)
  }
}

type Headers = Readonly<Record<string, string>>
type Spell = (path: string) => string

/** Returns the topics for which a request succeeds; `-` if each gets 401. */
async function tryTopics(use: (topic: string) => Promise<{ readonly status: number }>): Promise<string> {
  const statuses = await Promise.all(TOPICS.map(async (topic) => (await use(topic)).status))
  if (statuses.every((status) => status === 401)) return '-'
  for (const status of statuses) expect([200, 403, 404]).toContain(status)
  return TOPICS.filter((_, i) => statuses[i] === 200).join(' ')
}

/** Returns what a client may read by `/value`, list, and read at the hub. */
async function findReads(sse: TestSse, headers: Headers, spell: Spell, hubQuery: string): Promise<readonly string[]> {
  const read = await tryTopics((topic) => sse.request('GET', `${spell('/value')}?topic=${topic}`, { headers }))
  const wait = await sse.open('?topic=open', { path: spell('/wait'), headers })
  wait.socket.destroy()
  expect(wait.status).toBe(read === '-' ? 401 : 200)
  const list = await waitUntil(async () => {
    const { status, body } = await sse.request('GET', spell('/connections'), { headers })
    const topics: string[] = status === 200 ? body.topics.map(({ topic }: { topic: string }) => topic) : ['-']
    // The stream of all topics that another client has just closed may still be known.
    return !topics.includes('*') && topics
  })
  const hub = await sse.open(hubQuery, { path: spell(HUB), headers })
  if (hub.status === 200) await waitUntil(() => read === '' || hub.values.length >= read.split(' ').length)
  hub.socket.destroy()
  return [read, list.sort().join(' '), hub.status === 200 ? hub.values.toSorted().join(' ') : '-']
}

/** Returns the topics to which a client may put values by `/put` and `/values`, and at the hub. */
async function findPuts(sse: TestSse, headers: Headers, spell: Spell): Promise<readonly string[]> {
  const post = (path: string, body: RequestInit['body'], type?: string) =>
    sse.request('POST', path, { body: body!, headers: { ...headers, ...(type && { 'content-type': type }) } })
  const put = await tryTopics((topic) => post(`${spell('/put')}?topic=${topic}`, topic))
  expect(await tryTopics((topic) => sse.request('GET', `${spell('/put')}?topic=${topic}&v=1`, { headers }))).toBe(put)
  const toList = (topic: string) => JSON.stringify([{ topic, value: topic }])
  expect(await tryTopics((topic) => post(spell('/values'), toList(topic), 'application/json'))).toBe(put)
  return [put, await tryTopics((topic) => post(spell(HUB), new URLSearchParams({ topic, data: topic })))]
}

// A spelling of the path that every server adapter passes to Fastify.
const spellForFastify: Spell = (path) => path.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`)

/** Compares what each caller may do with its row, for both spellings of each path. */
async function checkRows(sse: TestSse, callers: readonly Headers[], rows: readonly Row[], hubQuery: string) {
  const spellings: readonly Spell[] = [(path) => path, spellForFastify]
  for (const spell of spellings) {
    const reads = []
    for (const headers of callers) reads.push(await findReads(sse, headers, spell, hubQuery))
    expect(reads).toEqual(rows.map(([read, list, , , hubRead]) => [read, list, hubRead]))
  }
  for (const spell of spellings) {
    const puts = []
    for (const headers of callers) puts.push(await findPuts(sse, headers, spell))
    expect(puts).toEqual(rows.map(([, , put, , , hubPut]) => [put, hubPut]))
  }
  const statuses = []
  for (const headers of callers) statuses.push((await sse.request('POST', '/closeall', { headers })).status)
  expect(statuses).toEqual(rows.map(([, , , close]) => (close === 'yes' ? 200 : 401)))
}

describe.each(SERVERS)('the rights of each caller, served by %s', (server) => {
  const start = (settings: Record<string, string>) =>
    startSse({ ...settings, server, threads: server === 'raw' ? 2 : 1 })

  it.each(Object.entries(TABLE))('with %s', async (_name, { settings, rows }) => {
    const sse = await start(settings)
    const all = toBearerHeader(settings.mercureJwtKey ? await signAll() : API_TOKEN)
    await prepare(sse, settings.mercureJwtKey ? all : undefined, all)
    const callers = [
      {},
      toBearerHeader(READ_TOKEN),
      toBearerHeader(API_TOKEN),
      toBearerHeader(await sign({ subscribe: ['secret'] })),
      toBearerHeader(await sign({ publish: ['secret'] })),
      toBearerHeader('neither'),
    ]
    await checkRows(sse, callers, rows, '?match=*&last_event_id=earliest')
  })

  it.each(Object.entries(LEGACY_TABLE))('with %s', async (_name, { settings, rows }) => {
    const sse = await start(settings)
    const all = await signLegacy(PUBLISHER_KEY, { publish: ['*'] })
    await prepare(sse, toBearerHeader(all), toBearerHeader(API_TOKEN))
    const subscribe = { subscribe: ['secret'] }
    const publish = { publish: ['secret'] }
    const subscriber = await signLegacy(SUBSCRIBER_KEY, subscribe)
    const publisher = await signLegacy(PUBLISHER_KEY, publish)
    const toCookie = (token: string) => ({ cookie: `mercureAuthorization=${token}`, origin: sse.url })
    const callers = [
      {},
      toBearerHeader(API_TOKEN),
      toBearerHeader(subscriber),
      toBearerHeader(publisher),
      toCookie(subscriber),
      toCookie(publisher),
      toBearerHeader(await signLegacy(PUBLISHER_KEY, subscribe)),
      toBearerHeader(await signLegacy(SUBSCRIBER_KEY, publish)),
    ]
    await checkRows(sse, callers, rows, '?topic=*&lastEventID=earliest')
  })
})
