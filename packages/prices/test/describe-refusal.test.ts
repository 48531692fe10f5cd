import { Problem } from '@influencer-stats/runtime/problems'
import { scaleRuns } from '@influencer-stats/runtime/testing/scale-runs'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Price } from '../src/core/price.ts'
import { describeRefusal, isDescribed, MAX_CANDIDATES } from '../src/search/refusal/describe-refusal.ts'
import type { SearchRequest } from '../src/search/search-request.ts'
import { Searcher } from '../src/search/searcher.ts'
import { INDEXES } from './support/available-indexes.ts'
import { createTestView } from './support/catalog.ts'
import { createPrice, toUuid } from './support/prices.ts'

const CHARS = ['speed', 'term'] as const
const number = fc.integer({ min: 1, max: 2 })
const values = fc.record({ term: fc.option(number, { nil: undefined }), speed: fc.option(number, { nil: undefined }) })
const toList = (of: Partial<Record<string, number | undefined>>) =>
  Object.entries(of).flatMap(([char, value]) => (value === undefined ? [] : [{ char, value }]))
const price = fc
  .record({ group: number, spec: number, values, isDated: fc.boolean(), value: number })
  .map(({ group, spec, values: own, isDated, value }) => ({
    groupId: `g${group}`,
    priceSpecId: `s${spec}`,
    charValues: toList(own),
    value,
    ...(isDated && { from: '2026-02-01' }),
  }))
const search = fc
  .record({
    group: fc.integer({ min: 1, max: 3 }),
    spec: number,
    values: fc.record({
      term: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
      speed: values.map((one) => one.speed),
    }),
    at: fc.constantFrom(undefined, '2026-01-01', '2026-03-01'),
    explain: fc.boolean(),
  })
  .map(({ group, spec, values: wanted, at, explain }): SearchRequest => ({
    offeringId: 'o1',
    groupId: `g${group}`,
    priceSpecId: `s${spec}`,
    charValues: toList(wanted),
    ...(at && { at }),
    explain,
  }))

interface OracleCondition {
  readonly text: string
  readonly matches: (one: Price) => boolean
}

const listOracleConditions = ({
  offeringId,
  groupId,
  priceSpecId,
  charValues,
  at,
}: SearchRequest): OracleCondition[] => [
  { text: `offeringId ${offeringId}`, matches: (one) => one.offeringId === offeringId },
  { text: `groupId ${groupId}`, matches: (one) => one.groupId === groupId },
  { text: `priceSpecId ${priceSpecId}`, matches: (one) => one.priceSpecId === priceSpecId },
  ...charValues.map(({ char, value }) => ({
    text: `${char} equals ${String(value)}`,
    matches: (one: Price) => one.charValues.some((own) => own.char === char && own.value === value),
  })),
  ...(at === undefined ? [] : [{ text: `at ${at}`, matches: (one: Price) => (one.from ?? '') <= at }]),
]

/** The oracle: the members of a refusal. @param isKnown true if all names and values exist */
function describePlainly(prices: readonly Price[], request: SearchRequest, isKnown: boolean) {
  const conditions = listOracleConditions(request)
  const filter = (some: readonly OracleCondition[]) =>
    prices.filter((one) => some.every(({ matches }) => matches(one))).sort((a, b) => (a.id < b.id ? -1 : 1))
  const matches = filter(conditions)
  if (matches.length > 1) {
    const candidates = matches.slice(0, MAX_CANDIDATES)
    const read = (one: Price, name: string) =>
      name === 'value' || name === 'from' ? one[name] : one.charValues.find(({ char }) => char === name)?.value
    const differences = ['value', 'from', ...CHARS].filter((name) =>
      candidates.some((one) => read(one, name) !== read(candidates[0]!, name)),
    )
    return { candidates, differences }
  }
  const isFailed = isKnown
    ? (_: OracleCondition, i: number) => filter(conditions.slice(0, i + 1)).length === 0
    : ({ text, matches: fits }: OracleCondition) => !text.startsWith('at ') && !prices.some(fits)
  const failed = conditions.filter(isFailed)
  // Several unknown names have no description.
  if (!isKnown && failed.length > 1) return {}
  const rest = conditions.filter((one) => one !== failed[0])
  return { condition: failed[0]!.text, candidates: filter(rest).slice(0, MAX_CANDIDATES) }
}

it.each(INDEXES)('index %s describes why a search has no result', async (index) => {
  const searcher = new Searcher()
  await fc.assert(
    fc.asyncProperty(
      fc.array(price, { minLength: 1, maxLength: 30 }),
      fc.array(search, { maxLength: 10 }),
      async (fields, searches) => {
        // Ids in another order than rows.
        const prices = fields.map((one, i) => createPrice({ ...one, id: toUuid((i * 7) % 31) }))
        const byId = new Map(prices.map((one) => [one.id, one]))
        const { view } = await createTestView(prices, index)
        const source = {
          view,
          index: view.indexes.get(index)!,
          readPrices: async (ids: readonly string[]) => ids.map((id) => byId.get(id)!),
        }
        for (const request of searches) {
          const body = Buffer.from(JSON.stringify(request))
          let refusal: unknown
          try {
            searcher.answer(body, view, source.index)
          } catch (error) {
            refusal = error
          }
          if (refusal === undefined) continue
          if (!isDescribed(refusal)) throw refusal
          const { code } = refusal
          const isKnown = code === 'PRICE_NOT_FOUND' || code === 'PRICES_AMBIGUOUS'
          const expected = describePlainly(prices, request, isKnown)
          const described = describeRefusal(refusal, body, source)
          if (request.explain && isKnown) {
            const { error, explain, ...members } = JSON.parse(await described)
            expect(error.code).toBe(code)
            expect(explain).toHaveLength(listOracleConditions(request).length)
            expect(members).toEqual(expected)
          } else {
            const problem = await described.catch((error: unknown) => error)
            expect(problem).toBeInstanceOf(Problem)
            expect(problem).toMatchObject({ code, detail: refusal.detail })
            expect((problem as Problem).members).toEqual(expected)
          }
        }
      },
    ),
    { numRuns: scaleRuns(60) },
  )
})
