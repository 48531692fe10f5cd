import { logs } from '@influencer-stats/log/parts'
import { startNatsServer, type NatsServer } from '@influencer-stats/log/nats-server'
import type { Overrides } from '@influencer-stats/runtime/embed'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { until } from '@influencer-stats/runtime/testing/until'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createPricesClient } from '../src/client.ts'
import { openPricesLevel } from '../src/database.ts'
import type { Price } from '../src/core/price.ts'
import { PIECE } from '../src/log-imports.ts'
import type { Outcome } from '../src/owner/log-view.ts'
import { logged, openView, pricesOf } from './support/log-view.ts'
import { priceOf, searchOf, startPrices, uuid, type Reply, type TestPrices } from './support/prices.ts'

let server: NatsServer

beforeAll(async () => {
  server = await startNatsServer({ folder: temporaryFolder() })
})
afterAll(() => server?.stop('SIGKILL'))

let streams = 0
const newStream = () => `prices-${process.pid}-${++streams}`

/** A node of prices in this process; it is stopped when the test ends. */
async function node(natsStream: string, settings: Overrides = {}, url = server.url): Promise<TestPrices> {
  const prices = await startPrices({
    log: 'jetstream',
    natsUrl: url,
    natsReplicas: 1,
    natsStream,
    indexes: 'bitset',
    data: temporaryFolder(),
    ...settings,
  })
  onTestFinished(async () => void (await prices.stop()))
  return prices
}

const sequenceOf = ({ headers }: Reply) => Number(headers.get('sequence'))
const put = (prices: TestPrices, { id, ...rest }: Price) => prices.ask('PUT', `/prices/${id}`, rest)
const exported = async (prices: TestPrices) => (await prices.ask('GET', '/prices?linearizable=true')).body as string
const lineOf = (price: Price) => `${JSON.stringify(price)}\n`
const sized = (i: number) => priceOf({ id: uuid(i), charValues: [{ char: 'n', value: i % 40 }] })

/** An import that is sent when the test says so. */
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
  it('find what another has put, by its sequence, and tell how far they are', async () => {
    const stream = newStream()
    const [one, other] = [await node(stream, { sequenceWaitTimeout: 300 }), await node(stream, { threads: 2 })]
    const price = sized(1)
    for (let value = 1; value <= 10; value++) {
      const written = await put(one, { ...price, value })
      expect([written.status, sequenceOf(written)]).toEqual([value === 1 ? 201 : 200, value])
      const found = await other.ask('POST', `/v1/search/bitmap/prices?sequence=${value}`, searchOf(price))
      expect([found.body.value, sequenceOf(found) >= value]).toEqual([value, true])
    }
    const read = await other.ask('GET', `/prices/${price.id}?linearizable=true`)
    expect([read.body.value, sequenceOf(read) >= 10]).toEqual([10, true])
    expect(sequenceOf(await other.search(searchOf(price)))).toBeGreaterThanOrEqual(10)
    const clash = await put(other, { ...sized(2), charValues: [{ char: 'n', value: 'text' }] })
    expect([clash.status, clash.body.code]).toEqual([409, 'TYPE_CONFLICT'])
    const gone = await one.ask('DELETE', `/prices/${price.id}`)
    expect(gone.status).toBe(204)
    const facets = await other.ask('GET', `/facets?sequence=${sequenceOf(gone)}`)
    expect([facets.body.count, sequenceOf(facets) >= sequenceOf(gone)]).toEqual([0, true])
    expect((await other.ask('DELETE', `/prices/${price.id}`)).body.code).toBe('PRICE_NOT_FOUND')
    const ahead = await one.ask('GET', `/prices/${price.id}?sequence=99999`)
    expect([ahead.status, ahead.body.code, ahead.headers.get('retry-after')]).toEqual([503, 'LOG_BEHIND', '1'])
    expect((await one.ask('GET', '/backup')).body.code).toBe('KEPT_ELSEWHERE')
  })

  it('have an import whole or not at all, in as many pieces as it takes', async () => {
    const stream = newStream()
    const [one, other] = [await node(stream), await node(stream)]
    const many = Array.from({ length: 6_000 }, (_, i) => sized(i))
    const text = many.map(lineOf).join('')
    expect(text.length).toBeGreaterThan(PIECE)
    const sent = openImport(one)
    for (let at = 0; at < text.length; at += 50_000) await sent.send(text.slice(at, at + 50_000))
    expect(await exported(other)).toBe('')
    await sent.end()
    const done = await sent.reply
    expect([done.status, done.body]).toEqual([200, { imported: 6_000, prices: 6_000 }])
    const found = await other.ask(
      'POST',
      `/v1/search/bitmap/prices?all=true&limit=1&sequence=${sequenceOf(done as Reply)}`,
      searchOf(many[7]!),
    )
    expect(found.status).toBe(200)
    const whole = await exported(one)
    expect(whole.split('\n')).toHaveLength(6_001)
    expect(await exported(other)).toBe(whole)
    const replaced = await other.import(many.slice(0, 3), '?replace=true')
    expect(replaced.body).toEqual({ imported: 3, prices: 3 })
    expect((await exported(one)).split('\n')).toHaveLength(4)
    expect((await other.import([], '?replace=true')).body.code).toMatch(/VALIDATION_FAILED|IMPORT_EMPTY/)
    const wrong = await one.import([sized(8_000), 'no price'])
    expect([wrong.status, wrong.body.code]).toEqual([400, 'BAD_LINE'])
    expect((await one.import([{ ...sized(8_000), charValues: [{ char: 'n', value: 'text' }] }])).body.code).toBe(
      'TYPE_CONFLICT',
    )
    expect((await exported(other)).split('\n')).toHaveLength(4)
  })

  it('take one import at a time, whichever has it; one that broke off makes room at once, and puts go on meanwhile', async () => {
    const stream = newStream()
    const [one, other] = [await node(stream, { importLimit: 1_000 }), await node(stream)]
    const first = openImport(one)
    await first.send(lineOf(sized(1)))
    await until(async () => sequenceOf(await one.ask('GET', '/facets')) > 0)
    const refused = await other.import([sized(2)])
    expect(refused.status).toBe(409)
    expect(refused.body.code).toBe('IMPORT_RUNNING')
    expect((await put(other, sized(3))).status).toBe(201)
    first.leave()
    await until(async () => (await other.import([sized(4)])).status === 200)
    expect(await exported(one)).not.toContain(uuid(1))
    expect(await exported(one)).toContain(uuid(4))
    const large = await one.import(Array.from({ length: 20 }, (_, i) => sized(i)))
    expect([large.status, large.body.code]).toEqual([413, 'BODY_TOO_LARGE'])
    expect((await other.import([sized(5)])).status).toBe(200)
  })

  it('start anew in the middle of an import, which goes on', async () => {
    const stream = newStream()
    const data = temporaryFolder()
    const one = await node(stream)
    let other = await node(stream, { data })
    const sent = openImport(one, '?replace=true')
    const text = Array.from({ length: 6_000 }, (_, i) => sized(i))
      .map(lineOf)
      .join('')
    await put(one, sized(9_000))
    for (let at = 0; at < 600_000; at += 50_000) await sent.send(text.slice(at, at + 50_000))
    await until(async () => Number((await put(one, sized(9_000))).headers.get('sequence')) > 3)
    await other.stop()
    other = await node(stream, { data })
    for (let at = 600_000; at < text.length; at += 50_000) await sent.send(text.slice(at, at + 50_000))
    await sent.end()
    expect((await sent.reply).body).toEqual({ imported: 6_000, prices: 6_000 })
    const whole = await exported(one)
    expect(whole.split('\n')).toHaveLength(6_001)
    expect(await exported(other)).toBe(whole)
  })

  it('start from a snapshot where the log does not go back so far, in the middle of an import, too', async () => {
    const stream = newStream()
    const quiet = { info() {}, warn() {}, error() {} } as never
    async function open(folder = temporaryFolder()) {
      const one = await openView(folder)
      const nats = { servers: [server.url] }
      const options = { service: 'prices', stream, nats, replicas: 1, log: quiet, appendTimeout: 15_000 }
      const log = await logs.jetstream({ ...options, view: one.view })
      const close = async () => {
        await log.close()
        await one.close()
      }
      return { ...one, log, close }
    }
    const folder = temporaryFolder()
    const away = await open(folder)
    await away.log.append(...logged.put(sized(0)))
    await away.close()
    const one = await open()
    const id = '0123456789abcdef'
    await one.log.append(...logged.put(sized(1)))
    await one.log.append(...logged.begins(id))
    await one.log.append(...logged.piece(id, 0, lineOf(sized(2))))
    await one.log.trim(await one.log.snapshot())
    await one.log.append(...logged.piece(id, 1, lineOf(sized(3))))
    const nodes = [one, await open(folder), await open()]
    const { outcome } = await one.log.append<Outcome>(...logged.ends(id, 2))
    expect(outcome).toEqual({ imported: 2, prices: 4 })
    const all = await pricesOf(one.owner)
    for (const each of nodes) {
      await each.log.barrier()
      expect(await pricesOf(each.owner)).toEqual(all)
      await each.close()
    }
  })

  it('make a catalog that cannot be read again from the log', async () => {
    const stream = newStream()
    const data = temporaryFolder()
    const one = await node(stream, { data })
    await one.import([sized(1), sized(2)])
    await put(one, sized(3))
    const whole = await exported(one)
    await one.stop()
    const level = await openPricesLevel(join(data, 'view'), { log: { error() {}, info() {} } })
    const [page] = await level.db.keys({ gte: 'g', lt: 'h' }).all()
    await level.db.del(page!)
    await level.close()
    expect(await exported(await node(stream, { data }))).toBe(whole)
  })

  it('leave the catalog of a service that runs alone as it is, which goes into them and back', async () => {
    const stream = newStream()
    const data = temporaryFolder()
    const alone = await startPrices({ data, indexes: 'bitset' })
    await alone.import([sized(1), sized(2)])
    const lines = await exported(alone)
    await alone.stop()
    const one = await node(stream, { data })
    const other = await node(stream)
    expect(await exported(one)).toBe('')
    const client = createPricesClient(one.url)
    expect(await client.import(lines)).toEqual({ imported: 2, prices: 2 })
    expect(await exported(other)).toBe(lines)
    await one.stop()
    const again = await node(stream, { data })
    expect(await exported(again)).toBe(lines)
    await put(again, sized(3))
    const later = await exported(other)
    await again.stop()
    const back = await startPrices({ data, indexes: 'bitset' })
    expect(await exported(back)).toBe(lines)
    const reply = await back.ask('GET', `/prices/${uuid(1)}?sequence=5&linearizable=true`)
    expect([reply.status, reply.headers.has('sequence')]).toEqual([200, false])
    await back.import([later], '?replace=true')
    expect(await exported(back)).toBe(later)
    await back.stop()
  })
})

describe('without the log', () => {
  it('searches go on and say how old they are, changes answer 503, and all goes on when it is back', async () => {
    const own = await startNatsServer({ folder: temporaryFolder() })
    onTestFinished(() => own.stop('SIGKILL'))
    const prices = await node(newStream(), { appendTimeout: 500 }, own.url)
    const price = sized(1)
    await until(async () => [200, 201].includes((await put(prices, price)).status))
    await own.stop()
    const refused = await until(async () => {
      const reply = await put(prices, price)
      return reply.body.code === 'LOG_UNAVAILABLE' && reply
    })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    expect((await prices.import([price])).body.code).toBe('LOG_UNAVAILABLE')
    const linearizable = await prices.ask('GET', `/prices/${price.id}?linearizable=true`)
    expect([linearizable.status, linearizable.body.code]).toEqual([503, 'LOG_UNAVAILABLE'])
    const old = await until(async () => {
      const reply = await prices.search(searchOf(price))
      expect(reply.status).toBe(200)
      return reply.headers.has('age') && reply
    })
    expect(Number(old.headers.get('age'))).toBeGreaterThan(3)
    await own.restart()
    await until(async () => (await put(prices, price)).status === 200)
    await until(async () => (await prices.import([price])).status === 200)
    expect((await prices.search(searchOf(price))).headers.has('age')).toBe(false)
  })
})
