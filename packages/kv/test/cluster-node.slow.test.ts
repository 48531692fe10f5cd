import { startTestNatsServer } from '@influencer-stats/log/testing/nats'
import type { Overrides } from '@influencer-stats/runtime/embed'
import { startProcessClock } from '@influencer-stats/runtime/testing/process-clock'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { connect } from 'node:net'
import { crc32 } from 'node:zlib'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type TestKv } from './support/kv.ts'
import { start, useNats } from './support/cluster-nodes.ts'
import { spawnKv } from './support/process.ts'
import { expectOneOrder } from './support/recorder.ts'

const startNode = useNats()

/** Publishes one message, like any other program. */
async function publish(natsUrl: string, subject: string, body: Buffer): Promise<void> {
  const { hostname, port } = new URL(natsUrl)
  const socket = connect(Number(port), hostname)
  socket.write(`CONNECT {"verbose":false}\r\nPUB ${subject} ${body.length}\r\n`)
  socket.write(body)
  socket.write('\r\nPING\r\n')
  for await (const piece of socket) if (String(piece).includes('PONG')) break
  socket.destroy()
}

/** Intact message of a later version of the log's format. */
function createMessageOfFormat2(): Buffer {
  const header = Buffer.from([0x4c, 2, 0, 0, 0, 1])
  const check = Buffer.alloc(4)
  check.writeUInt32BE(crc32(header))
  return Buffer.concat([header, check])
}

let streams = 0
const newStream = () => `kv-${process.pid}-${++streams}`

/** Starts a node of kv in this process, which stops when the test ends. */
const startTestNode = (natsStream: string, settings: Overrides = {}) => start({ ...startNode(natsStream), ...settings })

const lines = async (kv: TestKv) =>
  (await kv.request('GET', '/v0/entities?start=%00', undefined, { accept: 'application/x-ndjson' })).text
const put = (kv: TestKv, id: string, value: string | Buffer, headers = {}) =>
  kv.request('PUT', `/v0/entity?id=${id}`, value, headers)
const readSequence = ({ headers }: { headers: Headers }) => Number(headers.get('sequence'))

describe('nodes of kv', () => {
  it('read writes of other nodes by their sequence, and report their progress', async () => {
    const stream = newStream()
    const [one, other] = [await startTestNode(stream, { sequenceWaitTimeout: 300 }), await startTestNode(stream)]
    for (let i = 0; i < 20; i++) {
      const written = await put(one, 'k', String(i))
      expect(written.status).toBe(201)
      const sequence = readSequence(written)
      expect(sequence).toBe(i + 1)
      const read = await other.request('GET', `/v0/entity?id=k&after=${sequence}`)
      expect([read.text, read.headers.get('etag')]).toEqual([String(i), written.headers.get('etag')])
      expect(readSequence(read)).toBeGreaterThanOrEqual(sequence)
    }
    const batch = await one.request(
      'POST',
      '/v0/batch',
      '{"op":"put","id":"b","value":"1"}\n{"op":"delete","id":"k"}\n',
      {
        'content-type': 'application/x-ndjson',
      },
    )
    expect(readSequence(batch)).toBe(21)
    const range = await other.request('GET', `/v0/entities?start=%00&after=21`, undefined, {
      accept: 'application/x-ndjson',
    })
    expect([range.text, readSequence(range)]).toEqual(['{"op":"put","id":"b","value":"1"}\n', 21])
    const list = await other.request('POST', '/v0/entities/get?after=21', '{"ids":["b","k"]}')
    const found = list.text.split('\n').slice(0, -1)
    expect([found.map((line) => JSON.parse(line).found), readSequence(list)]).toEqual([[true, false], 21])
    const countUp = await other.request('GET', '/v0/entities?count=true&after=21')
    expect([countUp.text, readSequence(countUp)]).toEqual(['{"count":1}', 21])
    expect(readSequence(await one.request('DELETE', '/v0/entity?id=b'))).toBe(22)
    const missing = await other.request('GET', '/v0/entity?id=b&linearizable=true')
    expect([missing.status, missing.code, readSequence(missing) >= 22]).toEqual([404, 'ENTITY_NOT_FOUND', true])
    await one.client.put('mine', 'yes')
    const ownServer = { after: one.client.sequence }
    expect((await other.client.get('mine', ownServer))?.value.toString()).toBe('yes')
    const ids: string[] = []
    for await (const { id } of other.client.entries(ownServer)) ids.push(id)
    expect([ids, one.client.sequence]).toEqual([['mine'], expect.any(Number)])
    const ahead = await one.request('GET', '/v0/entity?id=b&after=999')
    expect([ahead.status, ahead.code, ahead.headers.get('retry-after')]).toEqual([503, 'SEQUENCE_WAIT_TIMEOUT', '1'])
    for (const wrong of ['after=x', 'after=-1', 'after=01', 'linearizable=1', 'after=1&after=1'])
      expect((await one.request('GET', `/v0/entity?id=b&${wrong}`)).code).toBe('QUERY_INVALID')
  })

  it.each([60, -60])('expire values by the clock of the log if their own clock is %i s off', async (seconds) => {
    const kv = await startTestNode(newStream())
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + seconds * 1_000 })
    onTestFinished(() => void vi.useRealTimers())
    const before = performance.now()
    await kv.client.put('k', 'x', { ttl: 1 })
    const time = startProcessClock()
    let remaining = 1_000
    for (let now = before; now - before < 950;) {
      const expiry = JSON.parse((await kv.request('GET', '/v0/entity/expiry?id=k')).text) as { remaining: number }
      const isFound = (await kv.client.get('k')) !== undefined
      now = performance.now()
      if (now - before >= 1_000) break
      expect(isFound).toBe(true)
      expect(expiry.remaining).toBeLessThanOrEqual(remaining + 20)
      remaining = expiry.remaining
    }
    await waitUntil(async () => (await kv.client.get('k')) === undefined)
    expect(time()).toBeLessThan(3_000)
  })

  it('lose no compare-and-set', async () => {
    const stream = newStream()
    const nodes = [
      await startTestNode(stream, { threads: 2 }),
      await startTestNode(stream),
      await startTestNode(stream),
    ]
    await put(nodes[0]!, 'counter', '0')
    const COUNT_TARGET = 8
    async function countUp(kv: TestKv): Promise<void> {
      for (let done = 0; done < COUNT_TARGET;) {
        const found = await kv.client.get('counter')
        const next = String(Number(found?.value ?? 'NaN') + 1)
        const { status } = found ? await put(kv, 'counter', next, { 'if-match': found.etag }) : { status: 0 }
        if (status === 201) done++
        else expect(status === 412 || status === 0).toBe(true)
      }
    }
    await Promise.all([...nodes, ...nodes].map(countUp))
    const { text } = await nodes[1]!.request('GET', '/v0/entity?id=counter&linearizable=true')
    expect(text).toBe(String(6 * COUNT_TARGET))
  })

  it('show one order to clients on a few keys, on any node', async () => {
    const stream = newStream()
    const nodes = [await startTestNode(stream), await startTestNode(stream, { threads: 2 })]
    await expectOneOrder(
      nodes.map(({ url }) => url),
      8,
      { linearizable: true },
    )
  })

  it('accept values up to the limit, even if they exceed the size of a message', async () => {
    const small = await startTestNatsServer({ config: 'max_payload: 262144' })
    const [stream, settings] = [newStream(), { cluster: small.url }]
    const [one, other] = [await startTestNode(stream, settings), await startTestNode(stream, settings)]
    const value = Buffer.alloc(16_777_216, 'value ')
    const written = await put(one, 'large', value)
    expect(written.status).toBe(201)
    const read = await other.request('GET', `/v0/entity?id=large&after=${readSequence(written)}`)
    expect(read.bytes.equals(value)).toBe(true)
  })

  it('continue with their data, rebuild them if necessary, and do not change a standalone database', async () => {
    const stream = newStream()
    const data = createTemporaryFolder()
    const alone = await start({ data })
    await put(alone, 'alone', '1')
    await alone.stop()
    const first = await startTestNode(stream, { data })
    expect(await lines(first)).toBe('')
    const { headers } = await put(first, 'k', '1')
    await first.stop()
    const again = await startTestNode(stream, { data })
    const read = await again.request('GET', '/v0/entity?id=k')
    expect([read.text, read.headers.get('etag')]).toEqual(['1', headers.get('etag')])
    expect((await put(again, 'k', '2', { 'if-match': headers.get('etag')! })).status).toBe(201)
    expect((await put(again, 'k', '3', { 'if-match': headers.get('etag')! })).code).toBe('CONDITION_FAILED')
    await again.stop()
    const back = await start({ data })
    expect(await lines(back)).toBe('{"op":"put","id":"alone","value":"1"}\n')
    // A standalone service has no log: every read includes all acknowledged writes.
    const plain = await back.request('GET', '/v0/entity?id=alone&after=5&linearizable=true')
    expect([plain.status, plain.headers.has('sequence')]).toEqual([200, false])
  })
})

describe('without the log', () => {
  it('reads continue and state their staleness, changes get 503, and both recover with the log', async () => {
    const ownServer = await startTestNatsServer()
    const kv = await startTestNode(newStream(), { appendTimeout: 500, cluster: ownServer.url })
    await waitUntil(async () => (await put(kv, 'k', '1')).status === 201)
    await ownServer.stop()
    const refused = await waitUntil(async () => {
      const reply = await put(kv, 'k', '2')
      return reply.code === 'LOG_UNAVAILABLE' && reply
    })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    const linearizable = await kv.request('GET', '/v0/entity?id=k&linearizable=true')
    expect([linearizable.status, linearizable.code]).toEqual([503, 'LOG_UNAVAILABLE'])
    const old = await waitUntil(async () => {
      const reply = await kv.request('GET', '/v0/entity?id=k')
      expect(reply.status).toBe(200)
      return reply.headers.has('age') && reply
    })
    expect(Number(old.headers.get('age'))).toBeGreaterThan(3)
    await ownServer.restart()
    await waitUntil(async () => (await put(kv, 'k', '3')).status === 201)
    const read = await kv.request('GET', '/v0/entity?id=k&linearizable=true')
    expect([read.text, read.headers.has('age')]).toEqual(['3', false])
  })

  it('a node that reads an entry of a newer format serves reads, and reports the reason', async () => {
    const stream = newStream()
    const { cluster } = startNode(stream)
    const settings = ['--cluster', cluster, '--nats-replicas', '1', '--nats-stream', stream]
    const service = spawnKv(createTemporaryFolder(), { settings })
    const url = await service.url
    const options = { method: 'PUT', body: '1', headers: { 'content-type': 'text/plain' } }
    expect((await fetch(`${url}/v0/entity?id=k`, options)).status).toBe(201)
    await publish(cluster, `log.${stream}`, createMessageOfFormat2())
    const readWrites = async () => ((await (await fetch(`${url}/readyz`)).json()) as any).writes
    await waitUntil(async () => !(await readWrites()).ready)
    expect(await readWrites()).toMatchObject({
      code: 'LOG_FORMAT_UNKNOWN',
      detail: `message 2 of stream ${stream}: has format 2; this version knows 1`,
    })
    expect(await (await fetch(`${url}/v0/entity?id=k`)).text()).toBe('1')
    expect(await (await fetch(`${url}/v0/entity?id=k`, options)).json()).toMatchObject({
      code: 'LOG_UNAVAILABLE',
      detail: 'LOG_FORMAT_UNKNOWN',
    })
    await service.stop()
  })
})
