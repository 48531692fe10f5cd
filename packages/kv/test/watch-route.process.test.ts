import { SERVERS } from '@influencer-stats/runtime/settings'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { describe, expect, it } from 'vitest'
import { start, useNats } from './support/cluster-nodes.ts'
import { openEventStream } from './support/event-stream.ts'

const startNode = useNats()

describe.each(SERVERS)('a stream of changes as plain server-sent events, server %s', (server) => {
  it('has events as lines of a batch, ids to resume, and heartbeats with its progress', async () => {
    const kv = await start({ server, watchHeartbeat: 20 })
    const stream = await openEventStream(`${kv.url}/v0/watch?start=k&end=l&progress=true`)
    expect(stream.reply.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    await waitUntil(() => stream.sequence())
    const begun = stream.sequence()
    expect(stream.text()).toMatch(/^retry: \d+\n(id: \d+\n\n)+$/)
    await kv.client.put('k', Buffer.from([0xff, 0]))
    await kv.client.batch([
      { op: 'put', id: 'k\n', value: 'text\n' },
      { op: 'delete', id: 'k' },
      { op: 'put', id: 'other', value: '1' },
    ])
    await waitUntil(() => stream.text().includes('delete'))
    const events = stream
      .text()
      .replace(/^retry: .*\n/, '')
      .replaceAll(/(^|\n\n)(id: \d+\n\n)+/g, '$1')
    expect(events.replaceAll(/\d+\n/g, 'N\n')).toBe(
      'event: put\ndata: {"op":"put","id":"k","valueBase64":"/wA="}\nid: N\n\n' +
        'event: put\ndata: {"op":"put","id":"k\\n","value":"text\\n"}\n\n' +
        'event: delete\ndata: {"op":"delete","id":"k"}\nid: N\n\n',
    )
    // A change outside of the range advances the sequence, too.
    const sent = stream.sequence()
    await kv.client.put('other', '2')
    await waitUntil(() => stream.sequence() > sent)
    const sequence = stream.sequence()
    stream.leave()
    await kv.client.put('k', '3')
    // The stream continues after its last id: the header takes precedence over the query.
    const again = await openEventStream(`${kv.url}/v0/watch?start=k&end=l&progress=true&after=${begun}`, {
      'last-event-id': String(sequence),
    })
    await waitUntil(() => again.text().includes('"3"'))
    expect(again.text().match(/^event/gm)).toHaveLength(1)
    const all = await openEventStream(`${kv.url}/v0/watch?start=k&end=l&progress=true&after=${begun}`)
    await waitUntil(() => all.text().includes('"3"'))
    expect(all.text().match(/^event/gm)).toHaveLength(4)
  })

  it('refuses invalid queries, too many streams, and expired sequences', async () => {
    const kv = await start({ server, maxWatchers: 1 })
    const openWatch = (query: string, headers = {}) => kv.request('GET', `/v0/watch${query}`, undefined, headers)
    for (const query of ['?start=', '?start=a&limit=1', '?start=a&after=x', '?start=a&after=-1', '?prefix=a&end=b'])
      expect((await openWatch(query)).code).toBe('QUERY_INVALID')
    expect((await openWatch('?start=a', { 'last-event-id': 'x' })).code).toBe('QUERY_INVALID')
    expect((await openWatch(`?start=${'x'.repeat(1_025)}`)).code).toBe('KEY_TOO_LARGE')
    expect(await openWatch('?start=a&after=5')).toMatchObject({ status: 410, code: 'SEQUENCE_EXPIRED' })
    const one = await openEventStream(`${kv.url}/v0/watch?progress=true`)
    await waitUntil(() => one.sequence())
    const refused = await openWatch('?start=a')
    expect([refused.status, refused.code, refused.headers.get('retry-after')]).toEqual([503, 'TOO_MANY_WATCHERS', '5'])
    // A sequence in the future.
    one.leave()
    const sequence = one.sequence()
    await waitUntil(async () => {
      const other = await openWatch(`?start=a&after=${sequence + 1_000}`)
      return other.code === 'SEQUENCE_EXPIRED'
    })
  })

  it('ends with the service and does not delay its stop', async () => {
    const kv = await start({ server, shutdownTimeout: 3_600_000 })
    const streams = await Promise.all(
      ['a', 'b'].map((key) => openEventStream(`${kv.url}/v0/watch?start=${key}&progress=true`)),
    )
    await waitUntil(() => streams.every((one) => one.sequence()))
    expect(await kv.stop()).toBe(true)
    await Promise.all(streams.map(({ ended }) => ended))
  })
})

it('reports an expired sequence after too many changes, also through the client', async () => {
  const kv = await start({ watchHistory: 10_000 })
  const stream = await openEventStream(`${kv.url}/v0/watch?start=k&progress=true`)
  await waitUntil(() => stream.sequence())
  const sequence = stream.sequence()
  for (let i = 0; i < 20; i++) await kv.client.put('k', 'x'.repeat(1_000))
  await waitUntil(() => stream.sequence() > sequence)
  expect(await kv.request('GET', `/v0/watch?start=k&after=${sequence}`)).toMatchObject({
    status: 410,
    code: 'SEQUENCE_EXPIRED',
  })
  const watching = kv.client.watch({ start: 'k', after: sequence })[Symbol.asyncIterator]()
  await expect(watching.next()).rejects.toMatchObject({ status: 410, code: 'SEQUENCE_EXPIRED' })
})

it('a stream on a node waits for a later sequence, and reports a timeout', async () => {
  const settings = startNode(`watch-behind-${process.pid}`)
  const [one, other] = [await start({ ...settings, sequenceWaitTimeout: 500 }), await start(settings)]
  await one.client.put('k', '1')
  const stream = await openEventStream(`${other.url}/v0/watch?start=k&progress=true&after=0`)
  await waitUntil(() => stream.text().includes('"value":"1"\n') || stream.text().includes('"value":"1"}'))
  // A new node knows the sequence up to which it has read.
  const sequence = one.client.sequence!
  const lagging = await one.request('GET', `/v0/watch?start=k&after=${sequence + 50}`)
  expect([lagging.status, lagging.code]).toEqual([503, 'SEQUENCE_WAIT_TIMEOUT'])
  const waiting = openEventStream(`${other.url}/v0/watch?start=k&progress=true&after=${sequence + 1}`)
  await one.client.put('k', '2')
  await one.client.put('k', '3')
  const late = await waiting
  await waitUntil(() => late.text().includes('"3"'))
  expect(late.text()).not.toContain('"2"')
})
