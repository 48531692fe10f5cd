import type { Overrides } from '@influencer-stats/runtime/embed'
import { SERVERS } from '@influencer-stats/runtime/settings'
import { createKeys } from '@influencer-stats/runtime/testing/utf8-keys'
import { expect, it } from 'vitest'
import { start, useNats } from './support/cluster-nodes.ts'

const startNode = useNats()

const entity = (id: string) => `/v0/entity?id=${encodeURIComponent(id)}`
/** Lengths (bytes) around the sizes that the engine's key buffer has after short keys, and around the maximum. */
const KEY_LENGTHS = [
  1, 2, 3, 4, 63, 64, 65, 66, 67, 68, 80, 128, 129, 130, 193, 194, 195, 511, 512, 513, 1_021, 1_022, 1_023, 1_024,
]
const keys = KEY_LENGTHS.flatMap(createKeys)

const kinds: [name: string, settings: () => Overrides][] = [
  ...SERVERS.map((server): [string, () => Overrides] => [`server ${server}`, () => ({ server })]),
  ...SERVERS.map((server): [string, () => Overrides] => [
    `server ${server}, memory`,
    () => ({ server, store: 'memory' }),
  ]),
  ['each write by itself, two threads', () => ({ commit: 'single', threads: 2 })],
  ['a node of a cluster', () => startNode('keys')],
]

it.each(kinds)('every read finds the key that it names: %s', async (_, settings) => {
  const kv = await start(settings())
  // Repeats an observed fault: after a short first read, the store read a shorter key instead of a longer one.
  await kv.request('GET', entity('k'))
  await kv.request('PUT', entity('é'.repeat(32)), 'shorter')
  await kv.request('PUT', entity('é'.repeat(40)), 'longer')
  await kv.request('PUT', entity('日'.repeat(30)), 'found')
  expect((await kv.request('GET', entity('é'.repeat(40)))).text).toBe('longer')
  expect((await kv.request('GET', entity('日'.repeat(30)))).text).toBe('found')
  for (const key of ['é'.repeat(32), 'é'.repeat(40), '日'.repeat(30)]) await kv.client.delete(key)

  const stream = kv.client.watch({ start: '\0' })[Symbol.asyncIterator]()
  await stream.next()
  for (const key of keys) expect((await kv.request('GET', entity(key))).status).toBe(404)
  for (const key of keys) await kv.client.put(key, key)
  const watched: string[] = []
  while (watched.length < keys.length) {
    const { value } = await stream.next()
    for (const change of value!.changes) watched.push(change.id)
  }
  await stream.return!(undefined)
  expect(watched.toSorted()).toEqual(keys.toSorted())

  for (const key of keys.toReversed()) {
    const { text, headers } = await kv.request('GET', entity(key))
    expect(text).toBe(key)
    expect((await kv.request('HEAD', entity(key))).headers.get('etag')).toBe(headers.get('etag'))
    const range = new URLSearchParams({ start: key, limit: '1' })
    const { text: line } = await kv.request('GET', `/v0/entities?${range}`, undefined, {
      accept: 'application/x-ndjson',
    })
    expect(JSON.parse(line)).toMatchObject({ id: key, value: key })
    const tag = { 'if-match': headers.get('etag')! }
    expect((await kv.request('DELETE', entity(key), undefined, { 'if-match': '"AAAAAAAA"' })).code).toBe(
      'CONDITION_FAILED',
    )
    expect((await kv.request('DELETE', entity(key), undefined, tag)).status).toBe(202)
    expect((await kv.request('GET', entity(key))).status).toBe(404)
  }
})
