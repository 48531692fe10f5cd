import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  createFilter,
  parseCursor,
  SORTS,
  toCursor,
  getSortValue,
  type OverviewRow,
} from '../src/campaigns/overview/overview-selection.ts'
import { OverviewOrder } from '../src/campaigns/overview/overview-order.ts'
import type { Campaign } from '../src/core/campaign.ts'

const growth = fc
  .integer({ min: -2, max: 2 })
  .map((n) => ({ impressions: n, engagements: n, score: n, since: '', until: '' }))
const small = fc.nat(3)
const campaign: fc.Arbitrary<Campaign> = fc.record(
  {
    name: fc.constantFrom('Äpfel', 'apfel', 'Birne 2', 'Birne 10', 'Z', '\u0000"\ud83d', '🌱'),
    tags: fc.subarray(['a', 'B', 'Äp']),
    from: fc.constantFrom('2026-01-01', '2026-01-02'),
    cost: small,
  },
  { requiredKeys: [] },
)
const row: fc.Arbitrary<OverviewRow> = fc
  .record(
    {
      id: fc.stringMatching(/^[abB.~-]{1,3}$/),
      campaign,
      totals: fc.record({ impressions: small, engagements: small, score: small, videos: small }),
      change: fc.record({ '24h': growth, '7d': growth, '30d': growth }),
    },
    { requiredKeys: ['id', 'campaign'] },
  )
  .map(({ id, campaign: said, totals, change }) => ({
    collection: { id, ...said },
    ...(totals && { known: { summary: { ...totals, missing: [], asOf: '2026' }, asOf: 0, at: 0 } }),
    ...(change && { change }),
  }))
const rows = fc.uniqueArray(row, { selector: ({ collection }) => collection.id, maxLength: 30 })

describe('an overview', () => {
  it('reads the requested collections in every order, page by page, as a full sort would', async () => {
    const names = new Intl.Collator('en', { numeric: true })
    const question = fc.record({
      q: fc.option(fc.constantFrom('', 'a', 'APF', 'b 2', ' äpf ', 'nothing'), { nil: undefined }),
      tag: fc.option(fc.constantFrom('a', 'b', 'Äp'), { nil: undefined }),
    })
    await fc.assert(
      fc.asyncProperty(
        rows,
        question,
        fc.constantFrom(...SORTS),
        fc.integer({ min: 1, max: 7 }),
        async (all, query, sort, limit) => {
          const fold = (text: string) => text.normalize('NFKD').toLowerCase()
          const expected = all
            .filter(({ collection: { id, name = '', tags = [] } }) => {
              const text = fold([id, name, ...tags].join('\n'))
              const words = fold(query.q ?? '').split(' ')
              return words.every((word) => text.includes(word)) && (query.tag === undefined || tags.includes(query.tag))
            })
            .toSorted((a, b) => {
              const [x, y] = [getSortValue(a, sort), getSortValue(b, sort)]
              const byId = a.collection.id < b.collection.id ? -1 : 1
              if (x === undefined || y === undefined) return x === y ? byId : x === undefined ? 1 : -1
              const order = sort.endsWith('name') ? names.compare(String(x), String(y)) : x < y ? -1 : x > y ? 1 : 0
              return (sort.startsWith('-') ? -order : order) || byId
            })
          if (sort === '-id') expected.sort((a, b) => (a.collection.id < b.collection.id ? 1 : -1))
          const isMatch = createFilter(query)
          const order = new OverviewOrder(sort)
          // Some rows are added before they have their values: a change merges them in again.
          const [early, late] = [all.slice(0, all.length >> 1), all.slice(all.length >> 1)]
          order.add(early.map(({ collection: { id } }) => ({ collection: { id } })))
          await order.merge()
          order.add(early.filter((one) => isMatch(one.collection)))
          for (const one of late) if (isMatch(one.collection)) order.add([one])
          await order.merge(new Set(early.map(({ collection }) => collection.id)))
          const ids = expected.map(({ collection }) => collection.id)
          const seen: string[] = []
          for (let cursor: string | undefined, pages = 0; ;) {
            const after = cursor === undefined ? undefined : parseCursor(sort, cursor)!
            const page = order.getPage(limit, 0, after)
            expect(page.total).toBe(ids.length)
            expect(page.rows.length).toBeLessThanOrEqual(limit)
            expect(++pages).toBeLessThanOrEqual(all.length + 1)
            const skipped = order.getPage(limit, 2, after).rows.map(({ collection }) => collection.id)
            expect(skipped).toEqual(ids.slice(seen.length + 2, seen.length + 2 + limit))
            seen.push(...page.rows.map(({ collection }) => collection.id))
            if (!page.end) break
            cursor = toCursor(sort, page.end)
            expect(cursor).toMatch(/^[A-Za-z0-9._~-]+$/)
          }
          expect(seen).toEqual(ids)
        },
      ),
      { numRuns: 500 },
    )
  })

  it('refuses a cursor of another order', () => {
    const parse = (text: string) => parseCursor('-impressions', Buffer.from(text).toString('base64url'))
    for (const text of ['', 'c1', 'null', '{"0":1}', '[]', '["a"]', '[1,2]', '[{},"a"]', '[1,"a",2]'])
      expect([text, parse(text)]).toEqual([text, undefined])
    expect(parse('[7,"a"]')).toEqual([7, 'a'])
    expect(parse('[null,"a"]')).toEqual([undefined, 'a'])
    fc.assert(fc.property(fc.string(), (text) => void expect(() => parse(text)).not.toThrow()))
  })
})
