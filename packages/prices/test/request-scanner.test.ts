import fc from 'fast-check'
import { expect, it } from 'vitest'
import { SearchQuery } from '../src/core/search-query.ts'
import { resolveRequest } from '../src/search/resolve-request.ts'
import { RequestScanner } from '../src/search/request-scanner.ts'
import { Terms } from '../src/core/terms.ts'
import { isBulkItem, isSearchRequest } from '../src/search/search-schema.ts'

const terms = new Terms()
const names = ['a', 'bb', 'o"x', 'ö', 'long name', 'tab\t']
for (const name of names)
  for (const kind of ['offering', 'group', 'spec', 'char'] as const) terms.ensureName(kind, name)
for (const name of names.slice(1)) for (const value of names) terms.ensureValue(terms.chars.getCode(name), value)
terms.ensureValue(terms.chars.getCode('a'), 12)
const usedTerms = new Uint8Array(terms.list.length).fill(1)
// One value that no row has any more.
usedTerms[terms.findValue(terms.chars.getCode('bb'), 'bb')] = 0
const dictionary = { terms, usedTerms }

const name = fc.constantFrom(...names, 'unknown', '')
const id = fc.oneof(name, fc.constantFrom(0, 7, 42, 9_007_199_254_740_991, -1, 1.5, 1e300))
const value = fc.oneof({ weight: 5, arbitrary: name }, fc.constantFrom(12, null, ['a']))
const condition = fc.oneof(
  { weight: 6, arbitrary: fc.record({ char: name, value }) },
  fc.record({ char: name, op: fc.constantFrom('equals', 'not'), value }),
)
const request = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      offeringId: name,
      groupId: name,
      priceSpecId: name,
      charValues: fc.array(condition, { maxLength: 4 }),
    }),
  },
  fc.record({
    id,
    offeringId: name,
    groupId: name,
    priceSpecId: name,
    charValues: fc.array(condition, { maxLength: 4 }),
  }),
  fc.record(
    {
      offeringId: name,
      groupId: name,
      priceSpecId: name,
      charValues: fc.array(condition, { maxLength: 3 }),
      id,
      at: fc.constant('2026-01-01'),
    },
    { requiredKeys: ['offeringId'] },
  ),
)
const usualRequest = fc.record({
  offeringId: fc.constantFrom('a', 'bb'),
  groupId: fc.constantFrom('a', 'long name'),
  priceSpecId: fc.constant('bb'),
  charValues: fc.array(
    fc.record({ char: fc.constantFrom('bb', 'long name'), value: fc.constantFrom('a', 'bb', 'long name') }),
    { maxLength: 4 },
  ),
})

/** The text of a request, perhaps with one change somewhere. */
const text = fc
  .tuple(
    fc.oneof(request, usualRequest),
    fc.constantFrom(0, 1, 2),
    fc.option(fc.tuple(fc.nat(), fc.constantFrom('', ' ', '"', ',', '}', '\\', 'x', '\u0000')), {
      nil: undefined,
      freq: 3,
    }),
  )
  .map(([one, indent, change]) => {
    const whole = JSON.stringify(one, undefined, indent === 2 ? 1 : undefined)
    if (!change) return whole
    const at = change[0] % (whole.length + 1)
    return whole.slice(0, at) + change[1] + whole.slice(at + (indent === 1 ? 1 : 0))
  })

const toTerms = (query: SearchQuery) => ({
  offering: query.offering,
  group: query.group,
  spec: query.spec,
  values: [...query.values.subarray(0, query.count)],
  choices: query.choices,
  at: query.at,
})

it('the scanner gives the result of JSON.parse, or rejects the request', () => {
  const scanner = new RequestScanner()
  let scanned = 0
  fc.assert(
    fc.property(text, (search) => {
      const bytes = Buffer.from(search)
      const query = new SearchQuery()
      if (!scanner.scan(bytes, 0, dictionary, query) || scanner.end !== bytes.length) return
      scanned++
      const parsed: unknown = JSON.parse(search)
      const id = scanner.idTo < 0 ? undefined : bytes.toString('latin1', scanner.idFrom, scanner.idTo)
      expect((parsed as { id?: string | number }).id).toBe(id && JSON.parse(id))
      if (id === undefined ? !isSearchRequest(parsed) : !isBulkItem(parsed)) throw new Error(`does not fit: ${search}`)
      const other = new SearchQuery()
      expect(resolveRequest(parsed as never, dictionary, other)).toBeUndefined()
      expect(toTerms(query)).toEqual(toTerms(other))
    }),
    { numRuns: 5_000 },
  )
  expect(scanned).toBeGreaterThan(200)
})

it('terms added after a view began are unknown to the view', () => {
  // A view's `usedTerms` has the length of the dictionary at that time.
  const search = { offeringId: 'a', groupId: 'bb', priceSpecId: 'long name', charValues: [{ char: 'bb', value: 'a' }] }
  const bytes = Buffer.from(JSON.stringify(search))
  for (let length = 0; length < usedTerms.length; length++) {
    const old = { terms, usedTerms: usedTerms.slice(0, length) }
    const known = [terms.offerings.find('a'), terms.groups.find('bb'), terms.specs.find('long name')]
    const char = terms.chars.find('bb')
    const expected = Math.max(...known, char, terms.findValue(char, 'a')) < length
    expect(new RequestScanner().scan(bytes, 0, old, new SearchQuery())).toBe(expected)
    expect(resolveRequest(search, old, new SearchQuery()) === undefined).toBe(expected)
  }
})

it('the usual shape is never rejected', () => {
  const scanner = new RequestScanner()
  const search = { offeringId: 'a', groupId: 'bb', priceSpecId: 'long name', charValues: [{ char: 'bb', value: 'a' }] }
  for (const one of [
    search,
    { id: '1', ...search },
    { ...search, id: '1' },
    { id: 0, ...search },
    { ...search, id: 12 },
  ]) {
    const bytes = Buffer.from(JSON.stringify(one))
    expect(scanner.scan(bytes, 0, dictionary, new SearchQuery())).toBe(true)
    expect(scanner.end).toBe(bytes.length)
  }
})

it('rejects an incomplete request and a request with two ids', () => {
  const scanner = new RequestScanner()
  const search = { offeringId: 'a', groupId: 'bb', priceSpecId: 'long name', charValues: [{ char: 'bb', value: 'a' }] }
  for (const one of [search, { id: '1', ...search }, { ...search, id: '1' }, { ...search, id: 12 }]) {
    const bytes = Buffer.from(JSON.stringify(one))
    for (let end = 0; end < bytes.length; end++)
      expect([end, scanner.scan(bytes.subarray(0, end), 0, dictionary, new SearchQuery())]).toEqual([end, false])
  }
  const twice = Buffer.from(JSON.stringify({ id: '1', ...search }).replace(/\}$/, ',"id":"2"}'))
  expect(scanner.scan(twice, 0, dictionary, new SearchQuery())).toBe(false)
})
