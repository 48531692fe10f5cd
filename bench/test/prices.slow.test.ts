import type { SearchRequest } from '@influencer-stats/prices/search/search-request'
import { generateSamplePrices } from '@influencer-stats/prices/sample/sample-catalog'
import { createPricesClient } from '@influencer-stats/prices/client'
import { prices } from '@influencer-stats/prices/service'
import { embed } from '@influencer-stats/runtime/embed'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createBareTarget } from '../src/targets/bare.ts'
import { createScriptTarget } from '../src/targets/program.ts'
import { drawRequests } from '../src/load/requests/drawers.ts'
import { runRaw } from '../src/load/raw.ts'
import { runBulk } from '../src/prices/bulk.ts'
import { generatePrices, getCatalogSize, type CatalogPlan } from '../src/load/requests/catalogs.ts'
import { runImport } from '../src/prices/catalog-import.ts'
import { ExpectedCatalog } from '../src/load/requests/expected-catalog.ts'
import { runLookups } from '../src/prices/lookups.ts'
import { runMemory } from '../src/prices/memory.ts'
import { runRoundTrips } from '../src/prices/round-trips.ts'
import { INDEXES } from '../src/load/requests/searches.ts'
import { tables } from '../src/tables/all.ts'
import { getIndex } from '../src/tables/prices/prices.ts'

const ONE_OFFERING: CatalogPlan = { kind: 'sample', offerings: 1 }
const ONE_UNIFORM_OFFERING: CatalogPlan = { kind: 'uniform', offerings: 1 }

const buildAnswer = (row: number, spec: string) =>
  Buffer.from(`{"id":"99757a95-f758-499f-a170-bea93b2d8bcf","spec":"${spec}","value":${row},"currency":"USD"}`)

describe('a known catalog', () => {
  it.each([ONE_OFFERING, ONE_UNIFORM_OFFERING])(
    'writes the search for a row as JSON.stringify would: $kind',
    (plan) => {
      const known = new ExpectedCatalog(plan)
      let row = 0
      for (const { offeringId, groupId, priceSpecId, charValues, value } of generatePrices(plan)) {
        expect(value).toBe(row)
        if (row % 97 === 0) {
          const search = { offeringId, groupId, priceSpecId, charValues }
          expect(known.buildBody(row)).toBe(JSON.stringify(search))
          expect(known.buildBody(row, { id: 'x' })).toBe(JSON.stringify({ id: 'x', ...search }))
          expect(known.getSpec(row)).toBe(priceSpecId)
        }
        row++
      }
      expect(row).toBe(getCatalogSize(plan))
    },
  )

  it('counts matching rows by a full scan', () => {
    const known = new ExpectedCatalog(ONE_OFFERING)
    const [first] = generateSamplePrices(1)
    const matches = ({ groupId, priceSpecId, charValues }: typeof first & {}) =>
      groupId === first!.groupId &&
      priceSpecId === first!.priceSpecId &&
      [0, 2, 4].every((column) => charValues[column]!.value === first!.charValues[column]!.value)
    const expected = generateSamplePrices(1).filter(matches).toArray().length
    expect(expected).toBeGreaterThan(1)
    expect(known.countMatches(0)).toBe(1)
    expect(known.countMatches(0, new Set([1, 3]))).toBe(expected)
  })

  it('draws the same uniform catalog each time, with all values', () => {
    const [once, again] = [[...generatePrices(ONE_UNIFORM_OFFERING)], [...generatePrices(ONE_UNIFORM_OFFERING)]]
    expect(once).toEqual(again)
    expect(new Set(once.flatMap(({ charValues }) => charValues.map(({ value }) => value))).size).toBe(10)
    expect(new Set(once.map(({ charValues }) => charValues.length))).toEqual(new Set([20]))
  })
})

it('searches use random rows of the whole catalog and check their row number', () => {
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
    generateSamplePrices().flatMap((price) => {
      const key = keyOf(price)
      return keys.has(key) ? [[key, price] as const] : []
    }),
  )
  for (const { head, body, key, isRight } of drawn) {
    expect(head).toMatch(/^POST \/v1\/search\/bitset\/prices HTTP\/1\.1\r\nHost: host\r\n/)
    expect(head).toContain(`\r\nContent-Length: ${body!.length}`)
    const { charValues, value: row, priceSpecId } = rows.get(key)!
    expect(JSON.parse(body!).charValues).toEqual(charValues)
    expect(isRight!(buildAnswer(row, priceSpecId))).toBe(true)
    expect(isRight!(buildAnswer(row + 1, priceSpecId))).toBe(false)
    expect(isRight!(buildAnswer(row, 'XRC'))).toBe(false)
    expect(isRight!(buildAnswer(row, priceSpecId).subarray(1))).toBe(false)
  }
})

describe('look-ups', () => {
  const plan = { catalog: ONE_OFFERING, duration: 0.02 }
  const cases = ['random', 'row10', 'row3824', 'several', 'parsed', 'scanned'] as const

  it.each(INDEXES)('find the right rows in %s and report the time', async (index) => {
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
    expect(await runRoundTrips({ index: 'bitset', catalog: ONE_OFFERING, duration: 0.05 })).toBeGreaterThan(10_000)
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
    const { prices: count } = await runImport({ url, catalog: ONE_OFFERING })
    expect(count).toBe(9_744)
    const plan = { url, index: 'bitset', catalog: ONE_OFFERING, warmUp: 0, duration: 0, pid: process.pid } as const
    const { requests, milliseconds, seconds, before, peak } = await runBulk({ ...plan, items: 500, connections: 3 })
    expect([requests, milliseconds.length]).toEqual([3, 3])
    expect(seconds * 1000).toBeGreaterThanOrEqual(Math.max(...milliseconds))
    expect(peak).toBeGreaterThanOrEqual(before)
  })

  it('a bulk request with a wrong answer is invalid', async () => {
    const { url } = running
    const [first] = generateSamplePrices(1)
    await createPricesClient(url).put({ ...first!, value: 1 })
    const plan = { url, index: 'bitset', catalog: ONE_OFFERING, warmUp: 0, duration: 0, pid: process.pid } as const
    await expect(runBulk({ ...plan, items: 40_000, connections: 1 })).rejects.toThrow(/answer \d+ is wrong/)
  })
})

it('reports the memory of a service by part', async () => {
  const plan = { catalog: ONE_OFFERING, drawer: 'prices-of-1', settings: { indexes: 'roaring-offering' } }
  const { heap, buffers, roaring, caches, sum, each } = await runMemory(plan)
  expect(buffers * 1e6).toBeGreaterThan(9_744 * 28)
  expect(roaring * 1e6).toBeGreaterThan(9_744)
  expect(heap).toBeGreaterThan(0.5)
  expect(sum).toBeCloseTo(heap + buffers + roaring + caches)
  expect(each).toBe(Math.round((sum * 1e6) / 9_744))
})

it('the bare server parses request bodies, and more percentiles are available', async () => {
  const reply = { status: 200, headers: { 'content-length': '2' }, body: 'ok', bodyMode: 'json' } as const
  const server = await createBareTarget(reply).start()
  try {
    const plan = { url: server.url, expect: { status: 200, body: 'ok' }, connections: 2, duration: 0.3, warmUp: 0 }
    const result = await runRaw({
      ...plan,
      requests: { drawer: 'prices-constant' },
      percentiles: [97, 99.999],
    })
    expect(result).toMatchObject({ errors: 0, wrong: 0 })
    const { 97: p97, 99.999: all } = result.percentiles!
    expect(p97).toBeGreaterThan(0)
    expect(all).toBeGreaterThanOrEqual(p97!)
    await expect(fetch(server.url, { method: 'POST', body: '{' })).rejects.toThrow()
  } finally {
    await server.stop()
  }
})

it('the reading server reports its reading time', async () => {
  const server = await createScriptTarget('reading', 'reading-server.ts', '4').start()
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
  expect(getIndex(spec(''))).toBe('roaring-offering')
  expect(getIndex(spec('v5'))).toBe('bitset')
  expect(getIndex(spec('v5', { indexes: 'roaring,map' }))).toBe('roaring')
  expect(() => getIndex(spec('v99'))).toThrow('v99')
})

it('every table of prices is in a README', () => {
  const files = ['../../packages/prices/README.md', '../../README.md'].map((file) => new URL(file, import.meta.url))
  const readme = files.map((file) => readFileSync(file, 'utf8')).join('')
  const names = tables
    .filter(({ service, when }) => service === 'prices' && ['always', 'full'].includes(when))
    .map(({ name }) => `prices/${name}`)
  expect(names.filter((name) => !readme.includes(`<!-- bench:${name} -->\n`))).toEqual([])
  expect(names.filter((name) => !readme.includes(`<!-- /bench:${name} -->\n`))).toEqual([])
})
