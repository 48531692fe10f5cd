import { startTestNatsServer } from '@influencer-stats/log/testing/nats'
import type { NatsServer } from '@influencer-stats/log/nats-server'
import type { Overrides } from '@influencer-stats/runtime/embed'
import { START_SCRIPT } from '@influencer-stats/runtime/testing/spawn-start'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { ReceivedEvent } from './support/event-source-reader.ts'
import { HUB, createMercureClient } from './support/mercure-client.ts'
import { createStreamName, createNodeSettings, openTestLog } from './support/cluster-nodes.ts'
import { spawnSse } from './support/sse-process.ts'
import { startSse, type TestSse } from './support/test-sse.ts'
import { toBearerHeader, MERCURE, signAll } from './support/sign-tokens.ts'

let server: NatsServer

beforeAll(async () => {
  server = await startTestNatsServer()
})

/** A node in this process. */
const node = (stream: string, settings: Overrides = {}, url = server.url) =>
  startSse({ ...createNodeSettings(url, stream), ...settings })

const seqOf = ({ lastEventId }: Pick<ReceivedEvent, 'lastEventId'>) => Number(lastEventId.split('-')[1])
const listEvents = (events: readonly ReceivedEvent[]) => events.map(({ lastEventId, data }) => `${lastEventId} ${data}`)

describe('cluster nodes', () => {
  it('deliver all values to all streams in one order, and streams of a killed node resume at another', async () => {
    const stream = createStreamName()
    const third = await spawnSse(createNodeSettings(server.url, stream))
    const nodes: readonly TestSse[] = [await node(stream, { threads: 2 }), await node(stream), third.sse]
    const streams = await Promise.all(nodes.map((one) => one.open('?topic=fire')))
    const acknowledged: string[] = []
    let stopped = false
    const putters = nodes.map(async (one, i) => {
      for (let k = 0; !stopped; k++) {
        const value = `${i}.${k}`
        const id = await one.put(value, 'fire').catch((error: unknown) => {
          if (i !== 2) throw error
        })
        if (id === undefined) return
        acknowledged.push(`${id} ${value}`)
      }
    })
    const lost = streams[2]!
    // Without an event, it could not resume at one.
    await waitUntil(() => acknowledged.length > 50 && lost.values.length > 0)
    await third.end('SIGKILL')
    await lost.closed
    await waitUntil(() => acknowledged.length > 150)
    const resumed = await nodes[1]!.open('?topic=fire', { headers: { 'last-event-id': lost.reader.lastEventId } })
    await waitUntil(() => acknowledged.length > 200)
    stopped = true
    await Promise.all(putters)
    await nodes[0]!.put('end', 'fire')
    const all = [streams[0]!, streams[1]!, resumed]
    await waitUntil(() => all.every(({ values }) => values.at(-1) === 'end'))
    const [one, other, moved] = [streams[0]!.events, streams[1]!.events, [...lost.events, ...resumed.events]]
    expect(listEvents(other)).toEqual(listEvents(one))
    expect(listEvents(moved)).toEqual(listEvents(one))
    expect(one.every(({ type }) => type === 'message')).toBe(true)
    expect(one.map(seqOf)).toEqual([...new Set(one.map(seqOf))].toSorted((a, b) => a - b))
    // Streams have every acknowledged value with its acknowledged id. One more value may have been pending at the kill.
    const unacknowledged = listEvents(one).filter((event) => !acknowledged.includes(event))
    expect(
      listEvents(one)
        .filter((event) => acknowledged.includes(event))
        .toSorted(),
    ).toEqual(acknowledged.toSorted())
    expect(unacknowledged.map((event) => event.split(' ')[1]!.split('.')[0]).filter((i) => i !== 'end')).toSatisfy(
      (extra: string[]) => extra.length <= 1 && extra.every((i) => i === '2'),
    )
  })

  it('resume after an id that a publisher chose at another node', async () => {
    const stream = createStreamName()
    const settings = { ...MERCURE, mercureAnonymous: 'on' }
    const nodes = [await node(stream, { ...settings, threads: 2 }), await node(stream, settings)]
    const token = await signAll()
    for (let i = 0; i < 20; i++) {
      await createMercureClient(nodes[0]!).publish(token, 'a', `${i}`, ['id', `urn:${i}`])
      const resumed = await nodes[1]!.open('?match=a', { path: HUB, headers: { 'last-event-id': `urn:${i}` } })
      expect(resumed.headers['mercure-last-event-id']).toBe(`urn:${i}`)
    }
    nodes.push(await node(stream, settings))
    const [late] = await createMercureClient(nodes[2]!).subscribe('?match=a', { 'last-event-id': 'urn:17' })
    await late!.until(2)
    expect(late!.events.map(({ lastEventId }) => lastEventId)).toEqual(['urn:18', 'urn:19'])
  })

  it('that start later have the current values, the missed events and their gaps', async () => {
    const stream = createStreamName()
    const one = await node(stream)
    const ids: string[] = []
    for (let i = 0; i < 20; i++) ids.push(await one.put(`v${i}`, i % 5 === 0 ? 'quiet' : 'a'))
    await one.put('gone', 'none')
    const { status } = await one.request('POST', '/values', {
      body: JSON.stringify([
        { topic: 'b', value: 'first' },
        { topic: 'b', value: 'ü' },
      ]),
      headers: { 'content-type': 'application/json' },
    })
    expect(status).toBe(200)
    const later = await node(stream, { threads: 2 })
    for (const each of [one, later]) {
      const value = await each.request('GET', '/value?topic=quiet')
      expect([value.body, value.headers.get('event-id')]).toEqual(['v15', ids[15]])
      const current = await each.open('?last=1&topic=a&topic=quiet&topic=b')
      expect((await current.until(3)).map(({ data }) => data)).toEqual(['v15', 'v19', 'ü'])
      const missed = await each.open('?topic=a', { headers: { 'last-event-id': ids[4]! } })
      const expected = ids.flatMap((id, i) => (i > 4 && i % 5 !== 0 ? [`${id} v${i}`] : []))
      expect(listEvents(await missed.until(expected.length))).toEqual(expected)
    }
    // A node with a shorter history reports a gap.
    const small = await node(stream, { historyCount: 3 })
    const gap = await small.open('?topic=a', { headers: { 'last-event-id': ids[4]! } })
    expect((await gap.until(4)).map(({ type, data }) => [type, data])).toEqual([
      ['gap', ''],
      ['message', 'v17'],
      ['message', 'v18'],
      ['message', 'v19'],
    ])
    const none = await node(stream, { history: 'none' })
    expect((await none.request('GET', '/value?topic=a')).body).toBe('v19')
  })

  it('end the streams of all nodes at one sequence, and any node answers the closing id with 204', async () => {
    const stream = createStreamName()
    // The second node has the deprecated settings.
    const nodes = [await node(stream), await node(stream, { cluster: '', log: 'jetstream', natsUrl: server.url })]
    const streams = await Promise.all(nodes.map((one) => one.open('?topic=a')))
    await nodes[1]!.put('1', 'a')
    const { headers } = await nodes[0]!.request('POST', '/closeall')
    const closing = headers.get('event-id')!
    expect(closing).toMatch(/^[a-z0-9]+-02$/)
    await Promise.all(streams.map(({ closed }) => closed))
    for (const { events } of streams) {
      expect(events.map(({ type }) => type)).toEqual(['message', 'closed'])
      expect(events[1]!.lastEventId).toBe(closing)
    }
    for (const one of nodes)
      expect((await one.open('?topic=a', { headers: { 'last-event-id': closing } })).status).toBe(204)
  })

  it('support Mercure: private updates, tokens, several topics, and a resumption on another node', async () => {
    const stream = createStreamName()
    const settings = { ...MERCURE, mercureAnonymous: 'on' }
    const nodes = [await node(stream, settings), await node(stream, settings)]
    const [one, other] = nodes.map((each) => createMercureClient(each))
    const token = await signAll()
    const all = await other!.subscribe('?match=*', toBearerHeader(token))
    const open = await other!.subscribe('?match=*')
    const first = await one!.publish(token, 'https://x.example/a', 'hidden', ['private', 'on'], ['type', 'news'])
    const second = await one!.publish(token, 'https://x.example/a', 'open', ['topic', 'https://x.example/b'])
    for (const each of all) {
      await each.until(2)
      expect(each.events).toEqual([
        { type: 'news', data: 'hidden', lastEventId: first },
        { type: 'message', data: 'open', lastEventId: second },
      ])
    }
    for (const each of open) {
      await each.until(1)
      expect(listEvents(each.events)).toEqual([`${second} open`])
    }
    const [again] = await other!.subscribe('?match=https://x.example/b', { 'last-event-id': first })
    await again!.until(1)
    expect([again!.headers['mercure-last-event-id'], listEvents(again!.events)]).toEqual([first, [`${second} open`]])
    expect(
      (await nodes[1]!.request('POST', HUB, { body: new URLSearchParams({ topic: 'a', data: 'b' }) })).status,
    ).toBe(401)
  })
})

describe('while the log is unavailable', () => {
  it('puts fail, streams stay open, reads continue, and puts succeed once it returns', async () => {
    const own = await startTestNatsServer()
    const sse = await node(
      createStreamName(),
      { appendTimeout: 2_000, sequenceWaitTimeout: 300, heartbeat: 50 },
      own.url,
    )
    const open = await sse.open('?topic=a')
    const id = await sse.put('1', 'a')
    await own.stop()
    const put = () => sse.request('POST', '/put?topic=a', { body: '2' })
    const refused = await waitUntil(async () => {
      const reply = await put()
      return reply.body.code === 'LOG_UNAVAILABLE' && reply
    })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    const closing = await sse.request('POST', '/closeall')
    expect([closing.status, closing.body.code]).toEqual([503, 'LOG_UNAVAILABLE'])
    expect((await sse.request('GET', '/value?topic=a')).body).toBe('1')
    const late = await sse.open('?topic=a', { headers: { 'last-event-id': id } })
    // Only another node can have assigned this sequence, so this node does not know if it is valid.
    const [epoch, seq] = id.split('-')
    const ahead = await sse.open('?topic=a', { headers: { 'last-event-id': `${epoch}-${Number(seq) + 1}` } })
    expect([ahead.status, ahead.headers['retry-after']]).toEqual([503, '1'])
    const silentFor = (length: number) => waitUntil(() => open.body.length > length)
    await silentFor(open.body.length)
    expect([open.ended, late.status, late.ended]).toEqual([false, 200, false])
    await own.restart()
    await waitUntil(async () => (await put()).status === 200)
    await Promise.all([open.until(2), late.until(1)])
    expect(open.values).toEqual(['1', ...late.values])
    expect(new Set(late.values)).toEqual(new Set(['2']))
    expect(open.ended).toBe(false)
  })
})

describe('a cluster node', () => {
  it.each([
    ['broker', 'local'],
    ['history', 'level'],
  ])('refuses to start with %s %s, in one line', async (name, value) => {
    await expect(node(createStreamName(), { [name]: value })).rejects.toMatchObject({
      code: 'SETTINGS_WRONG',
      message: expect.stringMatching(/^sse: with --cluster [^\n]*$/),
    })
  })

  it('reports an entry of an unknown kind in one line, and does not exit', async () => {
    const stream = createStreamName()
    const settings = Object.entries(createNodeSettings(server.url, stream)).flatMap(([name, value]) => [
      `--${name}`,
      `${value}`,
    ])
    const args = [START_SCRIPT, 'sse', '--port', '0', '--data', createTemporaryFolder(), ...settings]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    const ended = once(child, 'close')
    onTestFinished(() => void child.kill('SIGKILL'))
    let said = ''
    for (const output of [child.stdout, child.stderr])
      output.setEncoding('utf8').on('data', (text: string) => (said += text))
    await waitUntil(() => /^sse +http:\S+ +\d+ +\d+$/m.test(said))
    const other = await openTestLog(server.url, stream, {
      getPosition: () => undefined,
      apply: async (entries) => entries.map(() => undefined),
      async *snapshot() {},
      async restore() {},
    })
    await other.append(9, Buffer.from('of a later version'))
    const line = `sse: the log is unavailable (LOG_FORMAT_UNKNOWN): message 1 of stream ${stream}: has an entry of the unknown kind 9; this version knows 1 to 3; this node serves reads, and retries`
    await waitUntil(() => said.includes(line))
    expect(said).not.toContain('exit code')
    child.kill('SIGTERM')
    await ended
  })
})
