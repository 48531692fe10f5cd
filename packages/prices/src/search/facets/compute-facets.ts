import { forEachInTurns } from '@influencer-stats/runtime/async/yield'
import { FacetCounts, GROUPS_FACET, OFFERINGS_FACET, createSelection, SPECS_FACET } from '../../core/facet-selection.ts'
import { SearchQuery } from '../../core/search-query.ts'
import { getCharType, type Term, type Terms } from '../../core/terms.ts'
import { errors, toResolveProblem } from '../../errors.ts'
import type { RowFinder } from '../../index/price-index.ts'
import type { CatalogView } from '../catalog-view.ts'
import { computeAmountRanges, type AmountRange } from './amount-ranges.ts'
import {
  FacetList,
  toPage,
  type FACET_SORTS,
  type FacetListOptions,
  type FacetPage,
  type FacetValue,
  type ValueRange,
} from './facet-page.ts'
import { createChoices } from '../resolve-request.ts'
import { resolveSearch } from '../row-tests.ts'
import type { SearchConditions } from '../search-request.ts'
import { createTextFilter, type TextFilter } from './text-filter.ts'
import { TopN } from '../../core/collections/top-n.ts'
import { getValueOrder, TEXT_ORDER } from './value-order.ts'
import { formatValue, type TermValue, compareValues, type CharType } from '../../core/values/term-value.ts'

/** The names of the lists in a reply. */
export const FACET_NAMES = ['offerings', 'groups', 'specs', 'characteristics'] as const
const FACET_BY_NAME = { offerings: OFFERINGS_FACET, groups: GROUPS_FACET, specs: SPECS_FACET } as const

/** Maximum number of characteristics in a reply. */
export const MAX_CHARACTERISTICS = 50

/** The requested lists and the conditions. */
export interface FacetRequest extends SearchConditions {
  /** One list only. */
  readonly facet?: (typeof FACET_NAMES)[number] | undefined
  /** The values of one characteristic only. */
  readonly char?: string | undefined
  /** A part of a name or value: other names and values are omitted. */
  readonly q?: string | undefined
  readonly sort?: (typeof FACET_SORTS)[number] | undefined
  /** True to also return the ranges of the values of the prices that match. */
  readonly range?: boolean | undefined
  /** Maximum number of values of a list. */
  readonly limit: number
  /** The cursor `next` of the previous page. */
  readonly after?: string | undefined
}

export interface CharFacet extends FacetPage<FacetValue>, ValueRange {
  readonly char: string
  readonly type: CharType
}

/** The values that can still be chosen. */
export interface FacetLists extends Partial<Record<keyof typeof FACET_BY_NAME, FacetPage<FacetValue>>> {
  /** Number of prices that match the selection. */
  readonly count: number
  readonly characteristics?: FacetPage<CharFacet>
  /** By currency, the range of the values of the prices that match the selection. */
  readonly range?: readonly AmountRange[]
}

/**
 * Computes the values that can still be chosen. It yields to the event loop meanwhile.
 * @throws Problem
 */
export async function computeFacets(request: FacetRequest, view: CatalogView, index: RowFinder): Promise<FacetLists> {
  const { terms, usedTerms } = view
  const query = new SearchQuery()
  const failure = resolveSearch(request, view, query)
  if (failure) throw toResolveProblem(failure)
  const selection = createSelection(query, createChoices(request, view), view)
  const requestedChar = findRequestedChar(request, view)
  const { facet, sort = 'name', limit, after } = request
  if (after !== undefined && requestedChar === undefined && facet === undefined)
    throw errors.INCOMPATIBLE_PARAMETERS('after needs facet or char; received neither')
  const counts = new FacetCounts(terms.list.length)
  await index.count(selection, counts)

  const { byTerm } = counts
  const getName = (char: number) => (terms.list[char] as { text: string }).text
  const getType = (char: number) => getCharType(usedTerms, char)
  const accepts = request.q === undefined ? undefined : createTextFilter(request.q)
  const lists = new Map<number, FacetList>()
  const addList = (number: number, options: Pick<FacetListOptions, 'order' | 'after' | 'isNamed'>) =>
    lists.set(number, new FacetList({ sort, limit, accepts, ...options }))
  const names = listNameFacets(request)
  for (const name of names) addList(FACET_BY_NAME[name], { order: TEXT_ORDER, after, isNamed: false })
  const chars = new TopN<number>(MAX_CHARACTERISTICS, (a, b) => compareValues(getName(a), getName(b)))
  if (requestedChar !== undefined) chars.add(requestedChar)
  else if (facet === undefined || facet === 'characteristics')
    for (const char of await listChars({ accepts, after }, byTerm, terms)) chars.add(char)
  const charPage = toPage(chars, getName)
  for (const char of charPage.values)
    addList(char, {
      order: getValueOrder(char, view),
      after: requestedChar === undefined ? undefined : after,
      isNamed: accepts?.(getName(char)) ?? false,
    })
  await forEachInTurns(byTerm.length, (term) => {
    const count = byTerm[term]!
    if (count > 0) lists.get(selection.getFacet(term))?.add(toValue(terms.list[term]!), count)
  })

  const characteristics = {
    ...charPage,
    values: charPage.values.map((char) => ({
      char: getName(char),
      type: getType(char)!,
      ...lists.get(char)!.toPage(),
    })),
  }
  return {
    count: counts.total,
    ...Object.fromEntries(names.map((name) => [name, lists.get(FACET_BY_NAME[name])!.toPage()])),
    ...((facet === undefined || facet === 'characteristics') && { characteristics }),
    ...(request.range && { range: await computeAmountRanges(query, view, index) }),
  }
}

const toValue = (term: Term): TermValue => (term.kind === 'value' ? term.value : term.text)

/** Returns the requested lists among offerings, groups and specs. */
const listNameFacets = ({ facet, char }: FacetRequest): (keyof typeof FACET_BY_NAME)[] =>
  (['offerings', 'groups', 'specs'] as const).filter((name) => char === undefined && (facet ?? name) === name)

/** Returns the term of the characteristic that a request names; undefined if it names none. */
function findRequestedChar({ char, facet }: FacetRequest, { terms, usedTerms }: CatalogView): number | undefined {
  if (char === undefined) return undefined
  if (facet !== undefined) throw errors.INCOMPATIBLE_PARAMETERS('either facet or char must be given; received both')
  const term = terms.chars.find(char)
  if (term < 0 || getCharType(usedTerms, term) === undefined) throw errors.CHARACTERISTIC_NOT_FOUND(char)
  return term
}

/**
 * Returns the characteristics that have a value with a count above 0 and come after `after`. With `accepts`, it must
 * accept their name or one of these values.
 */
async function listChars(
  { accepts = () => true, after }: { readonly accepts: TextFilter | undefined; readonly after: string | undefined },
  byTerm: Int32Array,
  { list }: Terms,
): Promise<Iterable<number>> {
  const found = new Set<number>()
  const others = new Set<number>()
  const isOnPage = (name: string) => after === undefined || name > after
  await forEachInTurns(byTerm.length, (term) => {
    const entry = list[term]!
    if (byTerm[term] === 0 || entry.kind !== 'value' || found.has(entry.char)) return
    const { text: name } = list[entry.char] as { text: string }
    if (!isOnPage(name)) return
    if ((!others.has(entry.char) && accepts(name)) || accepts(formatValue(entry.value))) found.add(entry.char)
    else others.add(entry.char)
  })
  return found
}
