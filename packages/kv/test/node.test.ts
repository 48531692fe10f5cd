import { startNatsServer } from '@influencer-stats/log/nats-server'
import type { Overrides } from '@influencer-stats/runtime/embed'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { until } from '@influencer-stats/runtime/testing/until'
import fc from 'fast-check'
import { connect } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type TestKv } from './support/kv.ts'
import { isLinearizable } from './support/linearizable.ts'
import { start, useNats } from './support/nodes.ts'
import { spawnKv } from './support/process.ts'
import { record, schedules, type Histories } from './support/recorder.ts'

const nodeOn = useNats()

/** Sends one message, as any program may. */
async function publish(natsUrl: string, subject: string, body: Buffer): Promise<void> {
  const { hostname, port } = new URL(natsUrl)
  const socket = connect(Number(port), hostname)
  socket.write(`CONNECT {"verbose":false}\r\nPUB ${subject} ${body.length}\r\n`)
  socket.write(body)
  socket.write('\r\nPING\r\n')
  for await (const piece of socket) if (String(piece).includes('PONG')) break
  socket.destroy()
}

let streams = 0
const newStream = () => `kv-${process.pid}-${++streams}`

/** A node of kv in this process; it is stopped when the test ends. */
const node = (natsStream: string, settings: Overrides = {}) => start({ ...nodeOn(natsStream), ...settings })

const lines = async (kv: TestKv) =>
  (await kv.ask('GET', '/v0/entities?start=%00', undefined, { accept: 'application/x-ndjson' })).text
const put = (kv: TestKv, id: string, value: string | Buffer, headers = {}) =>
  kv.ask('PUT', `/v0/entity?id=${id}`, value, headers)
const sequenceOf = ({ headers }: { headers: Headers }) => Number(headers.get('sequence'))

describe('nodes of kv', () => {
  it('read what another has written, by its sequence, and tell how far they are', async () => {
    const stream = newStream()
    const [one, other] = [await node(stream, { sequenceWaitTimeout: 300 }), await node(stream)]
    for (let i = 0; i < 20; i++) {
      const written = await put(one, 'k', String(i))
      expect(written.status).toBe(201)
      const sequence = sequenceOf(written)
      expect(sequence).toBe(i + 1)
      const read = await other.ask('GET', `/v0/entity?id=k&after=${sequence}`)
      expect([read.text, read.headers.get('etag')]).toEqual([String(i), written.headers.get('etag')])
      expect(sequenceOf(read)).toBeGreaterThanOrEqual(sequence)
    }
    const batch = await one.ask('POST', '/v0/batch', '{"op":"put","id":"b","value":"1"}\n{"op":"delete","id":"k"}\n', {
      'content-type': 'application/x-ndjson',
    })
    expect(sequenceOf(batch)).toBe(21)
    const range = await other.ask('GET', `/v0/entities?start=%00&after=21`, undefined, {
      accept: 'application/x-ndjson',
    })
    expect([range.text, sequenceOf(range)]).toEqual(['{"op":"put","id":"b","value":"1"}\n', 21])
    const list = await other.ask('POST', '/v0/entities/get?after=21', '{"ids":["b","k"]}')
    const found = list.text.split('\n').slice(0, -1)
    expect([found.map((line) => JSON.parse(line).found), sequenceOf(list)]).toEqual([[true, false], 21])
    const count = await other.ask('GET', '/v0/entities?count=true&after=21')
    expect([count.text, sequenceOf(count)]).toEqual(['{"count":1}', 21])
    expect(sequenceOf(await one.ask('DELETE', '/v0/entity?id=b'))).toBe(22)
    const missing = await other.ask('GET', '/v0/entity?id=b&linearizable=true')
    expect([missing.status, missing.code, sequenceOf(missing) >= 22]).toEqual([404, 'ENTITY_NOT_FOUND', true])
    await one.client.put('mine', 'yes')
    const own = { after: one.client.sequence }
    expect((await other.client.get('mine', own))?.value.toString()).toBe('yes')
    const ids: string[] = []
    for await (const { id } of other.client.entries(own)) ids.push(id)
    expect([ids, one.client.sequence]).toEqual([['mine'], expect.any(Number)])
    const ahead = await one.ask('GET', '/v0/entity?id=b&after=999')
    expect([ahead.status, ahead.code, ahead.headers.get('retry-after')]).toEqual([503, 'LOG_BEHIND', '1'])
    for (const wrong of ['after=x', 'after=-1', 'after=01', 'linearizable=1', 'after=1&after=1'])
      expect((await one.ask('GET', `/v0/entity?id=b&${wrong}`)).code).toBe('QUERY_INVALID')
  })

  it.each([60, -60])('expire values by the clock of the log where their own is %i s away', async (seconds) => {
    const kv = await node(newStream())
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + seconds * 1_000 })
    onTestFinished(() => void vi.useRealTimers())
    const before = performance.now()
    await kv.client.put('k', 'x', { ttl: 1 })
    const written = performance.now()
    let remaining = 1_000
    for (let now = before; now - before < 950;) {
      const expiry = JSON.parse((await kv.ask('GET', '/v0/entity/expiry?id=k')).text) as { remaining: number }
      const isFound = (await kv.client.get('k')) !== undefined
      now = performance.now()
      if (now - before >= 1_000) break
      expect(isFound).toBe(true)
      expect(expiry.remaining).toBeLessThanOrEqual(remaining + 20)
      remaining = expiry.remaining
    }
    await until(async () => (await kv.client.get('k')) === undefined)
    expect(performance.now() - written).toBeLessThan(3_000)
  })

  it('count with compare-and-set without losing one', async () => {
    const stream = newStream()
    const nodes = [await node(stream, { threads: 2 }), await node(stream), await node(stream)]
    await put(nodes[0]!, 'counter', '0')
    const COUNTS = 8
    async function count(kv: TestKv): Promise<void> {
      for (let done = 0; done < COUNTS;) {
        const found = await kv.client.get('counter')
        const next = String(Number(found?.value ?? 'NaN') + 1)
        const { status } = found ? await put(kv, 'counter', next, { 'if-match': found.etag }) : { status: 0 }
        if (status === 201) done++
        else expect(status === 412 || status === 0).toBe(true)
      }
    }
    await Promise.all([...nodes, ...nodes].map(count))
    const { text } = await nodes[1]!.ask('GET', '/v0/entity?id=counter&linearizable=true')
    expect(text).toBe(String(6 * COUNTS))
  })

  it('show one order to clients on a few keys, whichever node they ask', async () => {
    const stream = newStream()
    const nodes = [await node(stream), await node(stream, { threads: 2 })]
    let run = 0
    let refused = 0
    await fc.assert(
      fc.asyncProperty(schedules, async (clients) => {
        const histories: Histories = new Map()
        const prefix = `${++run}/`
        await Promise.all(
          clients.map((steps, i) => {
            const own = steps.map((one) => ({ ...one, key: prefix + one.key }))
            return record(nodes[i % 2]!.url, String(i), own, histories, { linearizable: true })
          }),
        )
        expect([...histories].filter(([, history]) => !isLinearizable(history))).toEqual([])
        for (const history of histories.values())
          refused += history.filter((one) => one.type === 'write' && one.outcome === 'refused').length
      }),
      { numRuns: 8, endOnFailure: true },
    )
    expect(refused).toBeGreaterThan(8)
  })

  it('have no backup of their own, and say what is done instead', async () => {
    const kv = await node(newStream())
    const { status, code, text } = await kv.ask('GET', '/backup')
    expect([status, code]).toEqual([409, 'KEPT_ELSEWHERE'])
    expect(text).toContain('pnpm kv export')
  })

  it('take values up to the limit, whatever a message may hold', async () => {
    const small = await startNatsServer({ folder: temporaryFolder(), config: 'max_payload: 262144' })
    onTestFinished(() => small.stop('SIGKILL'))
    const [stream, settings] = [newStream(), { natsUrl: small.url }]
    const [one, other] = [await node(stream, settings), await node(stream, settings)]
    const value = Buffer.alloc(16_777_216, 'value ')
    const written = await put(one, 'large', value)
    expect(written.status).toBe(201)
    const read = await other.ask('GET', `/v0/entity?id=large&after=${sequenceOf(written)}`)
    expect(read.bytes.equals(value)).toBe(true)
  })

  it('keep what they have, start anew with it, and leave the base of a service that runs alone as it is', async () => {
    const stream = newStream()
    const data = temporaryFolder()
    const alone = await start({ data })
    await put(alone, 'alone', '1')
    await alone.stop()
    const first = await node(stream, { data })
    expect(await lines(first)).toBe('')
    const { headers } = await put(first, 'k', '1')
    await first.stop()
    const again = await node(stream, { data })
    const read = await again.ask('GET', '/v0/entity?id=k')
    expect([read.text, read.headers.get('etag')]).toEqual(['1', headers.get('etag')])
    expect((await put(again, 'k', '2', { 'if-match': headers.get('etag')! })).status).toBe(201)
    expect((await put(again, 'k', '3', { 'if-match': headers.get('etag')! })).code).toBe('CONDITION_FAILED')
    await again.stop()
    const back = await start({ data })
    expect(await lines(back)).toBe('{"op":"put","id":"alone","value":"1"}\n')
    // Alone there is no log: all that was acknowledged is there for every read.
    const plain = await back.ask('GET', '/v0/entity?id=alone&after=5&linearizable=true')
    expect([plain.status, plain.headers.has('sequence')]).toEqual([200, false])
  })
})

describe('without the log', () => {
  it('reads go on and say how old they are, changes answer 503, and all goes on when it is back', async () => {
    const own = await startNatsServer({ folder: temporaryFolder() })
    onTestFinished(() => own.stop('SIGKILL'))
    const kv = await node(newStream(), { appendTimeout: 500, natsUrl: own.url })
    await until(async () => (await put(kv, 'k', '1')).status === 201)
    await own.stop()
    const refused = await until(async () => {
      const reply = await put(kv, 'k', '2')
      return reply.code === 'LOG_UNAVAILABLE' && reply
    })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    const linearizable = await kv.ask('GET', '/v0/entity?id=k&linearizable=true')
    expect([linearizable.status, linearizable.code]).toEqual([503, 'LOG_UNAVAILABLE'])
    const old = await until(async () => {
      const reply = await kv.ask('GET', '/v0/entity?id=k')
      expect(reply.status).toBe(200)
      return reply.headers.has('age') && reply
    })
    expect(Number(old.headers.get('age'))).toBeGreaterThan(3)
    await own.restart()
    await until(async () => (await put(kv, 'k', '3')).status === 201)
    const read = await kv.ask('GET', '/v0/entity?id=k&linearizable=true')
    expect([read.text, read.headers.has('age')]).toEqual(['3', false])
  })

  it('a node that meets what it does not know ends, says so in one line, and does not come back', async () => {
    const stream = newStream()
    const { natsUrl } = nodeOn(stream)
    const settings = ['--log', 'jetstream', '--nats-url', natsUrl, '--nats-replicas', '1', '--nats-stream', stream]
    const service = spawnKv(temporaryFolder(), { settings })
    const url = await service.url
    const options = { method: 'PUT', body: '1', headers: { 'content-type': 'text/plain' } }
    expect((await fetch(`${url}/v0/entity?id=k`, options)).status).toBe(201)
    await publish(natsUrl, `log.${stream}`, Buffer.from([0x4c, 2, 0, 0, 0, 1, 0, 0, 0, 0]))
    const line = `kv: message 2 of stream ${stream}: has format 2; this version knows 1; this node stops`
    await until(() => service.said().includes('exit code 1') && service.said().includes(`: ${line}\n`))
    await service.stop()
  })

  it('a node that reaches no server refuses to start, with one line', async () => {
    const stream = newStream()
    const settings = ['--log', 'jetstream', '--nats-url', 'nats://127.0.0.1:1', '--nats-stream', stream]
    const { code, stderr } = await spawnKv(temporaryFolder(), { settings }).ended
    expect(code).toBe(1)
    expect(stderr.trim()).toBe('kv: no server of NATS can be reached at 127.0.0.1:1')
  })
})
