import type { SearchRequest } from '@influencer-stats/prices/core/request'
import { samplePrices } from '@influencer-stats/prices/core/sample'
import { createPricesClient } from '@influencer-stats/prices/client'
import { prices } from '@influencer-stats/prices/service'
import { embed } from '@influencer-stats/runtime/embed'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bareContender } from '../src/contenders/bare.ts'
import { scriptContender } from '../src/contenders/program.ts'
import { drawRequests } from '../src/load/requests/drawers.ts'
import { runRaw } from '../src/load/raw.ts'
import { runBulk } from '../src/prices/bulk.ts'
import { pricesOf, sizeOf, type CatalogPlan } from '../src/prices/catalogs.ts'
import { runImport } from '../src/prices/import.ts'
import { KnownCatalog } from '../src/prices/known-catalog.ts'
import { runLookups } from '../src/prices/lookups.ts'
import { runMemory } from '../src/prices/memory.ts'
import { runRoundTrips } from '../src/prices/round-trips.ts'
import { INDEXES } from '../src/prices/searches.ts'
import { tables } from '../src/tables/all.ts'
import { indexOf } from '../src/tables/prices.ts'

const FEW: CatalogPlan = { kind: 'sample', offerings: 1 }
const FEW_UNIFORM: CatalogPlan = { kind: 'uniform', offerings: 1 }

const answerOf = (row: number, spec: string) =>
  Buffer.from(`{"id":"99757a95-f758-499f-a170-bea93b2d8bcf","spec":"${spec}","value":${row},"currency":"USD"}`)

describe('a known catalog', () => {
  it.each([FEW, FEW_UNIFORM])('writes the search for a row as JSON.stringify would: $kind', (plan) => {
    const known = new KnownCatalog(plan)
    let row = 0
    for (const { offeringId, groupId, priceSpecId, charValues, value } of pricesOf(plan)) {
      expect(value).toBe(row)
      if (row % 97 === 0) {
        const search = { offeringId, groupId, priceSpecId, charValues }
        expect(known.bodyOf(row)).toBe(JSON.stringify(search))
        expect(known.bodyOf(row, { id: 'x' })).toBe(JSON.stringify({ id: 'x', ...search }))
        expect(known.specOf(row)).toBe(priceSpecId)
      }
      row++
    }
    expect(row).toBe(sizeOf(plan))
  })

  it('counts what fits by looking at every row', () => {
    const known = new KnownCatalog(FEW)
    const [first] = samplePrices(1)
    const fits = ({ groupId, priceSpecId, charValues }: typeof first & {}) =>
      groupId === first!.groupId &&
      priceSpecId === first!.priceSpecId &&
      [0, 2, 4].every((place) => charValues[place]!.value === first!.charValues[place]!.value)
    const expected = samplePrices(1).filter(fits).toArray().length
    expect(expected).toBeGreaterThan(1)
    expect(known.countLike(0)).toBe(1)
    expect(known.countLike(0, new Set([1, 3]))).toBe(expected)
  })

  it('draws the same uniform catalog each time, of all values', () => {
    const [once, again] = [[...pricesOf(FEW_UNIFORM)], [...pricesOf(FEW_UNIFORM)]]
    expect(once).toEqual(again)
    expect(new Set(once.flatMap(({ charValues }) => charValues.map(({ value }) => value))).size).toBe(10)
    expect(new Set(once.map(({ charValues }) => charValues.length))).toEqual(new Set([20]))
  })
})

it('searches are of random rows of the whole catalog, and know the number of their row', () => {
  const [next, same] = [1, 1].map((seed) => drawRequests({ drawer: 'prices-bitset', seed }, 'host'))
  const keyOf = ({ offeringId, charValues }: SearchRequest) =>
    `${offeringId} ${charValues.map(({ value }) => value).join()}`
  const drawn = Array.from({ length: 200 }, () => {
    const { bytes, isRight } = next!()
    expect(bytes).toEqual(same!().bytes)
    const [head, body] = String(bytes).split('\r\n\r\n')
    return { head, body, key: keyOf(JSON.parse(body!)), isRight }
  })
  const keys = new Set(drawn.map(({ key }) => key))
  const rows = new Map(
    samplePrices().flatMap((price) => {
      const key = keyOf(price)
      return keys.has(key) ? [[key, price] as const] : []
    }),
  )
  for (const { head, body, key, isRight } of drawn) {
    expect(head).toMatch(/^POST \/v1\/search\/bitset\/prices HTTP\/1\.1\r\nHost: host\r\n/)
    expect(head).toContain(`\r\nContent-Length: ${body!.length}`)
    const { charValues, value: row, priceSpecId } = rows.get(key)!
    expect(JSON.parse(body!).charValues).toEqual(charValues)
    expect(isRight!(answerOf(row, priceSpecId))).toBe(true)
    expect(isRight!(answerOf(row + 1, priceSpecId))).toBe(false)
    expect(isRight!(answerOf(row, 'XRC'))).toBe(false)
    expect(isRight!(answerOf(row, priceSpecId).subarray(1))).toBe(false)
  }
})

describe('look-ups', () => {
  const plan = { catalog: FEW, duration: 0.02 }
  const cases = ['random', 'row10', 'row3824', 'several', 'parsed', 'scanned'] as const

  it.each(INDEXES)('find what they should in %s, and say how long it took', async (index) => {
    const { cases: times, storage } = await runLookups({ ...plan, index, cases, storage: true })
    for (const name of cases) {
      expect(times[name]).toBeGreaterThan(10)
    }
    const { answers, ids, idTable, shared } = storage!
    expect([answers, ids]).toEqual([Math.ceil(9_744 / 512) * 512 * 28 - 9_744 * 16, 9_744 * 16])
    expect(idTable).toBeGreaterThan(9_744 * 4)
    expect(shared).toBeGreaterThan(9_744)
  })

  it('go over HTTP and back in one thread', async () => {
    expect(await runRoundTrips({ index: 'bitset', catalog: FEW, duration: 0.05 })).toBeGreaterThan(10_000)
  })
})

describe('with a service', () => {
  const folder = mkdtempSync(join(tmpdir(), 'influencer-stats-'))
  let running: Awaited<ReturnType<typeof embed>>
  beforeAll(async () => {
    running = await embed(prices, { data: folder, sample: 'no', indexes: 'bitset' })
  })
  afterAll(async () => {
    await running.stop()
    rmSync(folder, { recursive: true })
  })

  it('a catalog is imported, and bulk requests are answered', async () => {
    const { url } = running
    const { prices: count } = await runImport({ url, catalog: FEW })
    expect(count).toBe(9_744)
    const plan = { url, index: 'bitset', catalog: FEW, warmUp: 0, duration: 0, pid: process.pid } as const
    const { requests, milliseconds, seconds, before, peak } = await runBulk({ ...plan, items: 500, connections: 3 })
    expect([requests, milliseconds.length]).toEqual([3, 3])
    expect(seconds * 1000).toBeGreaterThanOrEqual(Math.max(...milliseconds))
    expect(peak).toBeGreaterThanOrEqual(before)
  })

  it('a bulk request with a wrong answer is no result', async () => {
    const { url } = running
    const [first] = samplePrices(1)
    await createPricesClient(url).put({ ...first!, value: 1 })
    const plan = { url, index: 'bitset', catalog: FEW, warmUp: 0, duration: 0, pid: process.pid } as const
    await expect(runBulk({ ...plan, items: 40_000, connections: 1 })).rejects.toThrow(/answer \d+ is wrong/)
  })
})

it('tells what a service holds, part by part', async () => {
  const plan = { catalog: FEW, drawer: 'prices-of-1', settings: { indexes: 'roaring-offering' } }
  const { heap, buffers, roaring, caches, sum, each } = await runMemory(plan)
  expect(buffers * 1e6).toBeGreaterThan(9_744 * 28)
  expect(roaring * 1e6).toBeGreaterThan(9_744)
  expect(heap).toBeGreaterThan(0.5)
  expect(sum).toBeCloseTo(heap + buffers + roaring + caches)
  expect(each).toBe(Math.round((sum * 1e6) / 9_744))
})

it('the bare server parses what it is sent, and more percentiles can be had', async () => {
  const reply = { status: 200, headers: { 'content-length': '2' }, body: 'ok', takes: 'json' } as const
  const server = await bareContender(reply).start()
  try {
    const plan = { url: server.url, expect: { status: 200, body: 'ok' }, connections: 2, duration: 0.3, warmUp: 0 }
    const result = await runRaw({
      ...plan,
      requests: { drawer: 'prices-constant' },
      percentiles: [97, 99.999],
    })
    expect(result).toMatchObject({ errors: 0, wrong: 0 })
    const { 97: most, 99.999: all } = result.percentiles!
    expect(most).toBeGreaterThan(0)
    expect(all).toBeGreaterThanOrEqual(most!)
    await expect(fetch(server.url, { method: 'POST', body: '{' })).rejects.toThrow()
  } finally {
    await server.stop()
  }
})

it('the reading server tells how long it has read', async () => {
  const server = await scriptContender('reading', './reading-server.ts', '4').start()
  try {
    const readSoFar = async () => Number(await (await fetch(`${server.url}/read`)).text())
    expect(await readSoFar()).toBe(0)
    expect(await (await fetch(server.url)).text()).toBe('0')
    const once = await readSoFar()
    expect(once).toBeGreaterThan(0)
    await (await fetch(server.url)).text()
    expect(await readSoFar()).toBeGreaterThan(once)
  } finally {
    await server.stop()
  }
})

it('a spec names the index it is measured by', () => {
  const spec = (variant: string, settings = {}) => ({ service: 'prices', variant, settings })
  expect(indexOf(spec(''))).toBe('roaring-offering')
  expect(indexOf(spec('v5'))).toBe('bitset')
  expect(indexOf(spec('v5', { indexes: 'roaring,map' }))).toBe('roaring')
  expect(() => indexOf(spec('v99'))).toThrow('v99')
})

it('every table of prices has its place in a README', () => {
  const files = ['../../packages/prices/README.md', '../../README.md'].map((file) => new URL(file, import.meta.url))
  const readme = files.map((file) => readFileSync(file, 'utf8')).join('')
  const names = tables
    .filter(({ service, when }) => service === 'prices' && ['always', 'full'].includes(when))
    .map(({ name }) => `prices/${name}`)
  expect(names.filter((name) => !readme.includes(`<!-- bench:${name} -->\n`))).toEqual([])
  expect(names.filter((name) => !readme.includes(`<!-- /bench:${name} -->\n`))).toEqual([])
})
