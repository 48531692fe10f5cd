import { startTestNatsServer } from '@influencer-stats/log/testing/nats'
import { openJetStreamLog } from '@influencer-stats/log/jetstream-log'
import type { NatsServer } from '@influencer-stats/log/nats-server'
import type { Overrides } from '@influencer-stats/runtime/embed'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createPricesClient } from '../src/client.ts'
import { openPricesLevel } from '../src/storage/database.ts'
import type { Price } from '../src/core/price.ts'
import { PIECE_BYTES } from '../src/import/send-import.ts'
import type { PricesOutcome } from '../src/catalog/prices-state-machine.ts'
import { logEntries, openTestStateMachine, listPrices } from './support/state-machine.ts'
import { createPrice, toSearch, startPrices, toUuid, type PricesReply, type TestPrices } from './support/prices.ts'

let server: NatsServer

beforeAll(async () => {
  server = await startTestNatsServer()
})

let streams = 0
const newStream = () => `prices-${process.pid}-${++streams}`

/** Starts a node of prices in this process; it stops when the test ends. */
async function startNode(natsStream: string, settings: Overrides = {}, url = server.url): Promise<TestPrices> {
  const prices = await startPrices({
    cluster: url,
    natsReplicas: 1,
    natsStream,
    indexes: 'bitset',
    data: createTemporaryFolder(),
    ...settings,
  })
  onTestFinished(async () => void (await prices.stop()))
  return prices
}

const getSequence = ({ headers }: PricesReply) => Number(headers.get('sequence'))
const put = (prices: TestPrices, { id, ...rest }: Price) => prices.request('PUT', `/prices/${id}`, rest)
const exportLines = async (prices: TestPrices) =>
  (await prices.request('GET', '/prices?linearizable=true')).body as string
const toLine = (price: Price) => `${JSON.stringify(price)}\n`
const createSizedPrice = (i: number) => createPrice({ id: toUuid(i), charValues: [{ char: 'n', value: i % 40 }] })

/** An import whose parts the test sends. */
function openImport(prices: TestPrices, query = '') {
  const pipe = new TransformStream<Uint8Array, Uint8Array>()
  const writer = pipe.writable.getWriter()
  const leaving = new AbortController()
  const reply = fetch(`${prices.url}/prices/import${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
    body: pipe.readable,
    duplex: 'half',
    signal: leaving.signal,
  } as RequestInit).then(async (one) => ({ status: one.status, headers: one.headers, body: (await one.json()) as any }))
  reply.catch(() => {})
  return {
    reply,
    send: (text: string) => writer.write(Buffer.from(text)),
    end: () => writer.close(),
    leave: () => leaving.abort(),
  }
}

describe('nodes of prices', () => {
  it('find the puts of other nodes by sequence, and report their position', async () => {
    const stream = newStream()
    const [one, other] = [
      await startNode(stream, { sequenceWaitTimeout: 300 }),
      await startNode(stream, { threads: 2 }),
    ]
    const price = createSizedPrice(1)
    for (let value = 1; value <= 10; value++) {
      const written = await put(one, { ...price, value })
      expect([written.status, getSequence(written)]).toEqual([value === 1 ? 201 : 200, value])
      const found = await other.request('POST', `/v1/search/bitmap/prices?sequence=${value}`, toSearch(price))
      expect([found.body.value, getSequence(found) >= value]).toEqual([value, true])
    }
    const read = await other.request('GET', `/prices/${price.id}?linearizable=true`)
    expect([read.body.value, getSequence(read) >= 10]).toEqual([10, true])
    expect(getSequence(await other.search(toSearch(price)))).toBeGreaterThanOrEqual(10)
    const clash = await put(other, { ...createSizedPrice(2), charValues: [{ char: 'n', value: 'text' }] })
    expect([clash.status, clash.body.code]).toEqual([409, 'TYPE_CONFLICT'])
    const deleted = await one.request('DELETE', `/prices/${price.id}`)
    expect(deleted.status).toBe(204)
    const facets = await other.request('GET', `/facets?sequence=${getSequence(deleted)}`)
    expect([facets.body.count, getSequence(facets) >= getSequence(deleted)]).toEqual([0, true])
    expect((await other.request('DELETE', `/prices/${price.id}`)).body.code).toBe('PRICE_NOT_FOUND')
    for (const i of [4, 5]) await put(other, createSizedPrice(i))
    const { groupId } = price
    const refused = await one.request('DELETE', `/prices?groupId=${groupId}&dryRun=false&expected=1`)
    expect([refused.status, refused.body.code]).toEqual([409, 'MATCH_COUNT'])
    const removed = await one.request('DELETE', `/prices?groupId=${groupId}&at=now&dryRun=false&expected=2`)
    expect([removed.status, removed.body]).toEqual([200, { matched: 2, deleted: 2 }])
    const left = await other.request('GET', `/facets?sequence=${getSequence(removed)}`)
    expect([left.body.count, getSequence(removed) > getSequence(refused)]).toEqual([0, true])
    const ahead = await one.request('GET', `/prices/${price.id}?sequence=99999`)
    expect([ahead.status, ahead.body.code, ahead.headers.get('retry-after')]).toEqual([
      503,
      'SEQUENCE_WAIT_TIMEOUT',
      '1',
    ])
  })

  it('apply an import completely or not at all, for any number of pieces', async () => {
    const stream = newStream()
    const [one, other] = [await startNode(stream), await startNode(stream)]
    const allPrices = Array.from({ length: 6_000 }, (_, i) => createSizedPrice(i))
    const text = allPrices.map(toLine).join('')
    expect(text.length).toBeGreaterThan(PIECE_BYTES)
    const sent = openImport(one)
    for (let at = 0; at < text.length; at += 50_000) await sent.send(text.slice(at, at + 50_000))
    expect(await exportLines(other)).toBe('')
    await sent.end()
    const done = await sent.reply
    expect([done.status, done.body]).toEqual([200, { imported: 6_000, prices: 6_000 }])
    const found = await other.request(
      'POST',
      `/v1/search/bitmap/prices?all=true&limit=1&sequence=${getSequence(done as PricesReply)}`,
      toSearch(allPrices[7]!),
    )
    expect(found.status).toBe(200)
    const whole = await exportLines(one)
    expect(whole.split('\n')).toHaveLength(6_001)
    expect(await exportLines(other)).toBe(whole)
    const replaced = await other.import(allPrices.slice(0, 3), '?replace=true')
    expect(replaced.body).toEqual({ imported: 3, prices: 3 })
    expect((await exportLines(one)).split('\n')).toHaveLength(4)
    expect((await other.import([], '?replace=true')).body.code).toMatch(/VALIDATION_FAILED|IMPORT_EMPTY/)
    const wrong = await one.import([createSizedPrice(8_000), 'no price'])
    expect([wrong.status, wrong.body.code]).toEqual([400, 'BAD_LINE'])
    expect(
      (await one.import([{ ...createSizedPrice(8_000), charValues: [{ char: 'n', value: 'text' }] }])).body.code,
    ).toBe('TYPE_CONFLICT')
    expect((await exportLines(other)).split('\n')).toHaveLength(4)
  })

  it('accept one import at a time on all nodes; an interrupted one ends at once, and puts continue meanwhile', async () => {
    const stream = newStream()
    const [one, other] = [await startNode(stream, { importLimit: 1_000 }), await startNode(stream)]
    const first = openImport(one)
    await first.send(toLine(createSizedPrice(1)))
    await waitUntil(async () => getSequence(await one.request('GET', '/facets')) > 0)
    const refused = await other.import([createSizedPrice(2)])
    expect(refused.status).toBe(409)
    expect(refused.body.code).toBe('IMPORT_RUNNING')
    expect((await put(other, createSizedPrice(3))).status).toBe(201)
    first.leave()
    await waitUntil(async () => (await other.import([createSizedPrice(4)])).status === 200)
    expect(await exportLines(one)).not.toContain(toUuid(1))
    expect(await exportLines(one)).toContain(toUuid(4))
    const large = await one.import(Array.from({ length: 20 }, (_, i) => createSizedPrice(i)))
    expect([large.status, large.body.code]).toEqual([413, 'BODY_TOO_LARGE'])
    expect((await other.import([createSizedPrice(5)])).status).toBe(200)
  })

  it('restart in the middle of an import, which continues', async () => {
    const stream = newStream()
    const data = createTemporaryFolder()
    const one = await startNode(stream)
    let other = await startNode(stream, { data })
    const sent = openImport(one, '?replace=true')
    const text = Array.from({ length: 6_000 }, (_, i) => createSizedPrice(i))
      .map(toLine)
      .join('')
    await put(one, createSizedPrice(9_000))
    for (let at = 0; at < 600_000; at += 50_000) await sent.send(text.slice(at, at + 50_000))
    await waitUntil(async () => Number((await put(one, createSizedPrice(9_000))).headers.get('sequence')) > 3)
    await other.stop()
    other = await startNode(stream, { data })
    for (let at = 600_000; at < text.length; at += 50_000) await sent.send(text.slice(at, at + 50_000))
    await sent.end()
    expect((await sent.reply).body).toEqual({ imported: 6_000, prices: 6_000 })
    const whole = await exportLines(one)
    expect(whole.split('\n')).toHaveLength(6_001)
    expect(await exportLines(other)).toBe(whole)
  })

  it('start from a snapshot if the log is too short, also in the middle of an import', async () => {
    const stream = newStream()
    const quiet = { info() {}, warn() {}, error() {} } as never
    async function open(folder = createTemporaryFolder()) {
      const one = await openTestStateMachine(folder)
      const nats = { servers: [server.url] }
      const options = { service: 'prices', stream, nats, replicas: 1, log: quiet, appendTimeout: 15_000 }
      const log = await openJetStreamLog({ ...options, stateMachine: one.stateMachine })
      const close = async () => {
        await log.close()
        await one.close()
      }
      return { ...one, log, close }
    }
    const folder = createTemporaryFolder()
    const unavailableNode = await open(folder)
    await unavailableNode.log.append(...logEntries.put(createSizedPrice(0)))
    await unavailableNode.close()
    const one = await open()
    const id = '0123456789abcdef'
    await one.log.append(...logEntries.put(createSizedPrice(1)))
    await one.log.append(...logEntries.begin(id))
    await one.log.append(...logEntries.piece(id, 0, toLine(createSizedPrice(2))))
    await one.log.trim(await one.log.snapshot())
    await one.log.append(...logEntries.piece(id, 1, toLine(createSizedPrice(3))))
    const nodes = [one, await open(folder), await open()]
    const { outcome } = await one.log.append<PricesOutcome>(...logEntries.end(id, 2))
    expect(outcome).toEqual({ imported: 2, prices: 4 })
    const all = await listPrices(one.catalog)
    for (const each of nodes) {
      await each.log.barrier()
      expect(await listPrices(each.catalog)).toEqual(all)
      await each.close()
    }
  })

  it('rebuild an unreadable catalog from the log', async () => {
    const stream = newStream()
    const data = createTemporaryFolder()
    const one = await startNode(stream, { data })
    await one.import([createSizedPrice(1), createSizedPrice(2)])
    await put(one, createSizedPrice(3))
    const whole = await exportLines(one)
    await one.stop()
    const level = await openPricesLevel(join(data, 'view'), { log: { error() {}, info() {} } })
    const [page] = await level.db.keys({ gte: 'g', lt: 'h' }).all()
    await level.db.del(page!)
    await level.close()
    expect(await exportLines(await startNode(stream, { data }))).toBe(whole)
  })

  it('leave the catalog of a standalone service unchanged, and exchange it by export and import', async () => {
    const stream = newStream()
    const data = createTemporaryFolder()
    const alone = await startPrices({ data, indexes: 'bitset' })
    await alone.import([createSizedPrice(1), createSizedPrice(2)])
    const lines = await exportLines(alone)
    await alone.stop()
    const one = await startNode(stream, { data })
    const other = await startNode(stream)
    expect(await exportLines(one)).toBe('')
    const client = createPricesClient(one.url)
    expect(await client.import(lines)).toEqual({ imported: 2, prices: 2 })
    expect(await exportLines(other)).toBe(lines)
    await one.stop()
    const again = await startNode(stream, { data })
    expect(await exportLines(again)).toBe(lines)
    await put(again, createSizedPrice(3))
    const later = await exportLines(other)
    await again.stop()
    const back = await startPrices({ data, indexes: 'bitset' })
    expect(await exportLines(back)).toBe(lines)
    const reply = await back.request('GET', `/prices/${toUuid(1)}?sequence=5&linearizable=true`)
    expect([reply.status, reply.headers.has('sequence')]).toEqual([200, false])
    await back.import([later], '?replace=true')
    expect(await exportLines(back)).toBe(later)
    await back.stop()
  })
})

describe('without the log', () => {
  it('searches continue and state their age, changes answer 503, and both recover with the log', async () => {
    const own = await startTestNatsServer()
    const prices = await startNode(newStream(), { appendTimeout: 500 }, own.url)
    const price = createSizedPrice(1)
    await waitUntil(async () => [200, 201].includes((await put(prices, price)).status))
    await own.stop()
    const refused = await waitUntil(async () => {
      const reply = await put(prices, price)
      return reply.body.code === 'LOG_UNAVAILABLE' && reply
    })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    expect((await prices.import([price])).body.code).toBe('LOG_UNAVAILABLE')
    const linearizable = await prices.request('GET', `/prices/${price.id}?linearizable=true`)
    expect([linearizable.status, linearizable.body.code]).toEqual([503, 'LOG_UNAVAILABLE'])
    const old = await waitUntil(async () => {
      const reply = await prices.search(toSearch(price))
      expect(reply.status).toBe(200)
      return reply.headers.has('age') && reply
    })
    expect(Number(old.headers.get('age'))).toBeGreaterThan(3)
    await own.restart()
    await waitUntil(async () => (await put(prices, price)).status === 200)
    await waitUntil(async () => (await prices.import([price])).status === 200)
    expect((await prices.search(toSearch(price))).headers.has('age')).toBe(false)
  })
})
