import { deleteStream, startTestNatsServer } from '@influencer-stats/log/testing/nats'
import { readEventStream, type StreamItem } from '@influencer-stats/runtime/event-stream'
import { readChunks } from '@influencer-stats/runtime/service-client'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { expect, it, onTestFinished, vi } from 'vitest'
import { clusterSubjects } from './support/cluster-subjects.ts'
import {
  runRescueCommand,
  startRescueNode,
  startRescueNodes,
  toUrls,
  waitUntilAll,
  type RescueNode,
} from './support/rescue-nodes.ts'

// Several nodes start in the test.
vi.setConfig({ testTimeout: 300_000 })

const sse = clusterSubjects.find(({ name }) => name === 'sse')!

/** Opens a stream. Its events are added to `events` as they arrive. */
async function openStream({ url }: RescueNode, lastEventId?: string) {
  const closing = new AbortController()
  onTestFinished(() => closing.abort())
  const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
  const reply = await fetch(`${url}/wait?topic=a`, { headers, signal: closing.signal })
  const events: StreamItem[] = []
  const stream = { events, isOpen: true }
  const read = async () => {
    for await (const item of readEventStream(readChunks(reply))) if (item.data !== undefined) events.push(item)
  }
  void read()
    .catch(() => {})
    .finally(() => (stream.isOpen = false))
  return stream
}

/** Publishes a value. Resolves with its event id. */
async function put({ url }: RescueNode, value: string): Promise<string> {
  const reply = await fetch(`${url}/put?topic=a`, { method: 'POST', body: value })
  expect(reply.status).toBe(200)
  await reply.arrayBuffer()
  return reply.headers.get('event-id')!
}

const list = (events: readonly StreamItem[]) => events.map(({ id, event = 'message', data }) => [id, event, data])

it('streams stay open during a rescue of sse, and old event ids remain valid on all nodes', async () => {
  const server = await startTestNatsServer()
  const nodes = await startRescueNodes(sse, server.url)
  const [one, two, three] = nodes as [RescueNode, RescueNode, RescueNode]
  const open = await openStream(one)
  const expected: (string | undefined)[][] = []
  const publish = async (node: RescueNode, value: string) =>
    void expected.push([await put(node, value), 'message', value])
  for (let i = 0; i < 6; i++) await publish(nodes[i % 3]!, `before ${i}`)
  await waitUntil(() => open.events.length === 6)
  const middle = expected[2]![0]!

  await deleteStream(server.url, 'sse')
  await waitUntilAll(nodes, 'LOG_LOST')
  const meanwhile = await openStream(two, middle)
  await waitUntil(() => meanwhile.events.length === 3)
  const args = ['sse', '--url', toUrls(nodes), '--cluster', server.url, '--nats-replicas', '1']
  expect(await runRescueCommand(...args)).toMatchObject({ code: 0, stderr: '' })

  for (let i = 0; i < 6; i++) await publish(nodes[i % 3]!, `after ${i}`)
  await waitUntil(() => open.events.length === 12 && meanwhile.events.length === 9)
  expect([list(open.events), open.isOpen]).toEqual([expected, true])
  expect([list(meanwhile.events), meanwhile.isOpen]).toEqual([expected.slice(3), true])
  // The ids have the epoch from before the rescue, and consecutive numbers.
  const ids = expected.map(([id]) => id!.split('-'))
  expect(new Set(ids.map(([epoch]) => epoch)).size).toBe(1)
  const first = Number(ids[0]![1])
  expect(ids.map(([, seq]) => Number(seq))).toEqual(ids.map((_, i) => first + i))

  const late = await startRescueNode(sse, server.url)
  for (const node of [three, late]) {
    const resumed = await openStream(node, middle)
    await waitUntil(() => resumed.events.length >= 9)
    expect(list(resumed.events)).toEqual(expected.slice(3))
  }
})
