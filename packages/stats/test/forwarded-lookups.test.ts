import { expect, it } from 'vitest'
import { ForwardedLookups, type ForwardedLookupsOptions } from '../src/cluster/forwarded-lookups.ts'
import { errors } from '../src/errors.ts'
import type { ForwardedLookup, LookupReply } from '../src/state/stats-change.ts'

/** Two nodes with one log: the first one polls. */
function setUp(more: Partial<ForwardedLookupsOptions> = {}) {
  const calls: string[] = []
  const nodes: ForwardedLookups[] = []
  const open = (isPolling: boolean, name: string) =>
    new ForwardedLookups({
      caller: {
        findVideos: async (ids) => (calls.push(`${name} ${ids}`), ids.map((id) => ({ id, asOf: 1 }))),
        findChannel: async () => undefined,
        findPlaylist: () => Promise.reject(errors.UPSTREAM_UNAVAILABLE('YouTube responded with 500')),
      },
      isPolling: () => isPolling,
      getOutage: () => undefined,
      send: async (lookup: ForwardedLookup) => void nodes[0]!.answer(lookup),
      reply(reply: LookupReply) {
        for (const one of nodes) one.receive(JSON.parse(JSON.stringify(reply)))
      },
      timeout: 60_000,
      ...more,
    })
  nodes.push(open(true, 'poller'), open(false, 'other'))
  return { calls, poller: nodes[0]!.caller, other: nodes[1]!.caller }
}

it('the polling node makes the calls of both', async () => {
  const { calls, poller, other } = setUp()
  expect(await other.findVideos(['a', 'b'])).toEqual(['a', 'b'].map((id) => ({ id, asOf: 1 })))
  expect(await other.findChannel({ handle: '@none' })).toBeUndefined()
  await poller.findVideos(['c'])
  expect(calls).toEqual(['poller a,b', 'poller c'])
})

it('a failed call, an outage and a refused entry are problems of the caller', async () => {
  await expect(setUp().other.findPlaylist('PL1')).rejects.toMatchObject({
    code: 'UPSTREAM_UNAVAILABLE',
    detail: 'YouTube responded with 500',
  })
  const outage = setUp({ getOutage: () => errors.UPSTREAM_UNAVAILABLE('the quota is used up') })
  await expect(outage.other.findVideos(['a'])).rejects.toMatchObject({ detail: 'the quota is used up' })
  expect(outage.calls).toEqual([])
  const refused = setUp({ send: () => Promise.reject(errors.LOG_UNAVAILABLE()) })
  await expect(refused.other.findVideos(['a'])).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' })
})
