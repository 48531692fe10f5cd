import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import statsDocument from '../../../clients/openapi/stats.json' with { type: 'json' }
import { findAccess } from '../src/core/route-allowlist.ts'
import { findCookie } from '../src/core/cookies.ts'
import { seal, unseal } from '../src/core/seal.ts'
import { createFormats } from '../src/page/core/format.ts'
import { getCoverage, sumGrowth } from '../src/page/core/growth.ts'
import { getNextSort, readHomeQuery, readView, toViewContent, writeHomeQuery } from '../src/page/core/home-query.ts'
import { getNextRenewal } from '../src/page/core/pacific.ts'
import { createId, parseTags } from '../src/page/core/campaign-input.ts'
import { compareHistograms, sumMetric, readMetrics } from '../src/page/core/prometheus.ts'
import {
  computeGrowthShare,
  joinSeries,
  drawPath,
  toHourly,
  samplePoints,
  subtractFirst,
  subtractEdits,
} from '../src/page/core/series.ts'

const HOUR_MS = 3_600_000

describe('a sealed value', () => {
  it('is readable only with its key and for its purpose', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.dictionary(fc.string(), fc.string()), (key, purpose, value) => {
        const sealed = seal(key, purpose, value)
        expect(unseal(key, purpose, sealed)).toEqual(JSON.parse(JSON.stringify(value)))
        expect(unseal(`${key}x`, purpose, sealed)).toBeUndefined()
        expect(unseal(key, `${purpose}x`, sealed)).toBeUndefined()
      }),
    )
  })

  it('is invalid after a change of any character', () => {
    const sealed = seal('key', 'link', { id: 'a', expires: 1 })
    for (let i = 0; i < sealed.length; i++) {
      const other = sealed[i] === 'A' ? 'B' : 'A'
      expect(unseal('key', 'link', sealed.slice(0, i) + other + sealed.slice(i + 1))).toBeUndefined()
    }
    for (const odd of ['', '.', 'a.b', `${sealed}.`, `${sealed}=`, sealed.slice(0, -1)])
      expect(unseal('key', 'link', odd)).toBeUndefined()
  })
})

describe('the requests that pages may send to services', () => {
  it.each([
    ['stats', 'GET', '/collections', 'read'],
    ['stats', 'PUT', '/collections/a', 'change'],
    ['stats', 'DELETE', '/collections/a/videos/b', 'change'],
    ['stats', 'GET', '/trash', 'read'],
    ['stats', 'POST', '/trash/a/restore', 'change'],
    ['stats', 'POST', '/preview', 'change'],
    ['stats', 'POST', '/campaigns/import', 'change'],
    ['stats', 'GET', '/campaigns/export', 'read'],
    ['stats', 'GET', '/campaigns/import', undefined],
    ['stats', 'POST', '/collections/a/preview', 'change'],
    ['stats', 'POST', '/collections/a/b/preview', undefined],
    ['stats', 'DELETE', '/trash/a', 'change'],
    ['stats', 'POST', '/collections/a', undefined],
    ['stats', 'POST', '/import', undefined],
    ['sse', 'GET', '/wait', 'read'],
    ['prices', 'POST', '/v1/search/bitmap/prices', 'read'],
    ['sse', 'POST', '/put', undefined],
    ['sse', 'GET', '/put', undefined],
    ['sse', 'GET', '/closeall', undefined],
    ['prices', 'POST', '/prices/import', undefined],
    ['kv', 'GET', '/v0/entity', undefined],
    ['stats', 'GET', '/collections/../metrics', undefined],
    ['stats', 'PUT', '/collections/%2E%2e/metrics', undefined],
    ['youtube', 'GET', '/metrics', undefined],
    ['constructor', 'GET', '/metrics', undefined],
  ])('%s %s %s: %s', (service, method, path, access) => {
    expect(findAccess(service, method, path)).toBe(access)
  })

  it('to stats are all its requests, except those of its command line', () => {
    const refused: string[] = []
    for (const [path, methods] of Object.entries<object>(statsDocument.paths))
      for (const name of Object.keys(methods)) {
        const method = name.toUpperCase()
        const access = findAccess('stats', method, path.replaceAll(/[{}]/g, ''))
        if (access === undefined) refused.push(`${method} ${path}`)
        else expect([method, path, access]).toEqual([method, path, method === 'GET' ? 'read' : 'change'])
      }
    expect(refused.toSorted()).toEqual(['GET /export', 'POST /import'])
  })
})

it('a cookie is found by its complete name', () => {
  expect(findCookie('a=1; session=x=y; b=2', 'session')).toBe('x=y')
  expect(findCookie('my_session=1', 'session')).toBeUndefined()
  expect(findCookie(undefined, 'session')).toBeUndefined()
})

describe('numbers', () => {
  it("are in the reader's manner", () => {
    const german = createFormats('de-DE')
    expect(german.count(1_234_567)).toBe('1.234.567')
    expect(german.money(1_234.5, 'EUR')).toBe('1.234,50\u00A0€')
    const english = createFormats('en-US')
    expect(english.signed(-1_234)).toBe('-1,234')
    expect(english.signedPercent(0.0421)).toBe('+4.2%')
    const utc = createFormats('en-US', 'UTC')
    const now = Date.parse('2026-03-02T12:00:00Z')
    expect(utc.clock(now - 3 * HOUR_MS, now)).toMatch(/^9:00:00\sAM$/)
    expect(utc.clock(now - 13 * HOUR_MS, now)).toMatch(/^Mar 1, 11:00\sPM$/)
    expect(utc.clock(now - 70 * 24 * HOUR_MS, now)).toMatch(/^Dec 22, 2025, 12:00\sPM$/)
    expect(english.short([0, 50e6, 100e6])).toEqual(['0', '50M', '100M'])
    expect(english.short([146_480_000, 146_490_000])).toEqual(['146.48M', '146.49M'])
    expect(english.short([146_480_022, 146_480_045])).toEqual(['146,480,022', '146,480,045'])
    expect([0.001234, 0.012345, 0.04].map((value) => english.money(value, 'EUR'))).toEqual([
      '€0.00123',
      '€0.012',
      '€0.040',
    ])
    expect(english.money(0.45, 'EUR')).toBe('€0.450')
    expect(german.short([1_880, 1_890])).toEqual(['1.880', '1.890'])
  })

  it('are percentages with one decimal, and a small share is not none', () => {
    const english = createFormats('en-US')
    const shares = [0, 0.000_1, 0.000_6, 0.22, 0.9999, 1]
    expect(shares.map(english.percent)).toEqual(['0%', '<0.1%', '0.1%', '22.0%', '100.0%', '100%'])
    expect(createFormats('de-DE').percent(0.000_1)).toBe('<0,1\u00A0%')
  })

  it('grow by a share of their earlier value', () => {
    expect(computeGrowthShare(150, 50)).toBe(0.5)
    expect(computeGrowthShare(50, 50)).toBeUndefined()
  })
})

describe('growth in a window', () => {
  const now = Date.parse('2026-03-08T00:00:00Z')
  const since = (hours: number) => new Date(now - hours * HOUR_MS).toISOString()
  const growth = { impressions: 10, engagements: 1 }

  it('is whole only if it covers the window', () => {
    const kinds = [
      { ...growth, since: since(24), until: since(0), isWhole: true },
      { ...growth, since: since(23.9), until: since(0) },
      { ...growth, since: since(3), until: since(0), young: true },
      // Version 0.1 states `since` alone.
      { ...growth, since: since(24.1) },
      { ...growth, since: since(72) },
      { ...growth, since: since(3) },
    ].map((one) => getCoverage(one, 24 * HOUR_MS, now).kind)
    expect(kinds).toEqual(['whole', 'other', 'young', 'whole', 'other', 'other'])
  })

  it('is summed over the campaigns with a known growth', () => {
    const sum = sumGrowth(
      [{ ...growth, since: since(24) }, { ...growth, since: since(72) }, undefined],
      24 * HOUR_MS,
      now,
    )
    expect(sum).toMatchObject({ impressions: 10, engagements: 1, omitted: 2, counted: 1, young: 0 })
  })

  it('is summed with the number and the start of campaigns that are younger than the window', () => {
    const young = [3, 5].map((hours) => ({ ...growth, since: since(hours), until: since(0), young: true }))
    const whole = { ...growth, since: since(24), until: since(0), isWhole: true }
    const youngSince = Date.parse(since(5))
    expect(sumGrowth([whole, ...young], 24 * HOUR_MS, now)).toMatchObject({
      counted: 3,
      young: 2,
      youngSince,
      omitted: 0,
    })
  })
})

describe('series', () => {
  const points = [
    { at: 0, value: 100 },
    { at: 2 * HOUR_MS, value: 300 },
    { at: 3 * HOUR_MS, value: 250 },
  ]

  it('give growth per hour, independent of the distance of their points', () => {
    expect(toHourly(points)).toEqual([
      { at: 2 * HOUR_MS, value: 100 },
      { at: 3 * HOUR_MS, value: -50 },
    ])
  })

  it('omit edits', () => {
    const sums = [
      { at: 0, impressions: 100, engagements: 1, added: { impressions: 100, engagements: 1 } },
      { at: 1, impressions: 60, engagements: 1, removed: { impressions: 50, engagements: 0 } },
      { at: 2, impressions: 95, engagements: 1, added: { impressions: 30, engagements: 0 } },
    ]
    expect(subtractEdits(sums, 'impressions').map(({ value }) => value)).toEqual([100, 110, 115])
  })

  it('are joined on one axis', () => {
    const later = [{ at: HOUR_MS, value: 7 }]
    expect(joinSeries([points, later])).toEqual([
      [0, HOUR_MS, 2 * HOUR_MS, 3 * HOUR_MS],
      [100, null, 300, 250],
      [null, 7, null, null],
    ])
    expect(subtractFirst(points).map(({ value }) => value)).toEqual([0, 200, 150])
  })

  it('are sampled at equal steps', () => {
    expect(samplePoints(points, 0, 4 * HOUR_MS, 4)).toEqual([100, 300, 250, 250])
    expect(samplePoints([], 0, 1, 3)).toEqual([])
  })

  it('stay within their box', () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { minLength: 2, maxLength: 50 }), (values) => {
        const numbers = drawPath(values, 100, 20)
          .match(/[\d.-]+/g)!
          .map(Number)
        const ys = numbers.filter((_number, i) => i % 2 === 1)
        expect(Math.min(...ys)).toBeGreaterThanOrEqual(0)
        expect(Math.max(...ys)).toBeLessThanOrEqual(20)
      }),
    )
  })
})

describe('typed text', () => {
  it('is split into tags, each once', () => {
    expect(parseTags(' a, b ,,a')).toEqual(['a', 'b'])
    expect(createId(new Uint8Array([0, 35, 36, 255]))).toBe('0z03')
  })
})

describe('an address', () => {
  it('contains the order and filters of the list', () => {
    const query = { sort: '-24h', q: 'a&b', tag: 'ü', isArchive: true } as const
    expect(readHomeQuery(writeHomeQuery(query))).toEqual(query)
    expect(toViewContent(query)).toEqual({ sort: '-24h', q: 'a&b', tag: 'ü', archived: true })
    expect(readView({ name: 'x', ...toViewContent(query) })).toEqual(query)
    expect(toViewContent(readHomeQuery(''))).toEqual({})
    expect(readView({ name: 'x', sort: 'later' })).toEqual(readHomeQuery(''))
    expect(readHomeQuery('?sort=nonsense')).toEqual({ sort: '-impressions', q: '', tag: '', isArchive: false })
    expect([
      getNextSort('-impressions', 'impressions'),
      getNextSort('-impressions', 'name'),
      getNextSort('name', 'name'),
    ]).toEqual(['impressions', 'name', '-name'])
  })
})

describe('metrics', () => {
  const text = (count: number, slow: number) => `# HELP x y
h_bucket{route="/a",le="0.1"} ${count - slow}
h_bucket{route="/a",le="1"} ${count}
h_bucket{route="/a",le="+Inf"} ${count}
h_bucket{route="/metrics",le="+Inf"} 1000
g{topic="a \\"b\\", c"} 3
g{topic="d"} 4
`
  it('are read with their labels, and summed', () => {
    const samples = readMetrics(text(1, 0))
    expect(samples.find(({ name }) => name === 'g')).toEqual({ name: 'g', labels: { topic: 'a "b", c' }, value: 3 })
    expect([sumMetric(samples, 'g'), sumMetric(samples, 'none')]).toEqual([7, undefined])
  })

  it('give the load between two readings, without monitoring requests', () => {
    const [before, after] = [readMetrics(text(10, 0)), readMetrics(text(110, 50))]
    expect(compareHistograms(before, after, 'h', 0.5)).toEqual({ total: 100, quantile: 0.1 })
    expect(compareHistograms(before, after, 'h', 0.75).quantile).toBeCloseTo(0.55)
    expect(compareHistograms(after, after, 'h', 0.5)).toEqual({ total: 0, quantile: undefined })
  })

  it('state the time of the quota renewal: midnight in California', () => {
    expect(new Date(getNextRenewal(Date.parse('2026-07-01T12:00:00Z'))).toISOString()).toBe('2026-07-02T07:00:00.000Z')
    expect(new Date(getNextRenewal(Date.parse('2026-01-01T07:59:59Z'))).toISOString()).toBe('2026-01-01T08:00:00.000Z')
  })
})
