import { commonErrors } from '@influencer-stats/runtime/errors'
import { formatReceived } from '@influencer-stats/runtime/received-value'
import { TopN } from './top-n.ts'
import type { TermValue } from '../core/price.ts'
import { SearchQuery } from '../core/search-query.ts'
import type { SearchConditions } from './search-request.ts'
import { createChoices, resolveRequest } from './resolve-request.ts'
import {
  FacetCounts,
  GROUPS_FACET,
  OFFERINGS_FACET,
  createSelection,
  SPECS_FACET,
  type FacetSelection,
} from '../core/facet-selection.ts'
import { compareValues, getCharType, getValueType, type CharType } from '../core/terms.ts'
import { errors, toResolveProblem } from '../errors.ts'
import type { RowFinder } from '../index/price-index.ts'
import { forEachInTurns } from '@influencer-stats/runtime/async/yield'
import type { CatalogView } from './catalog-view.ts'

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
  /** Maximum number of values of a list. */
  readonly limit: number
  /** The cursor `next` of the previous page. */
  readonly after?: string | undefined
}

/** A part of a list, and the cursor of the next part. */
export interface FacetPage<T> {
  readonly values: readonly T[]
  readonly next?: string
}

export interface FacetValue {
  readonly value: TermValue
  /** Number of matching prices if this value replaces the selection of its list. */
  readonly count: number
}

export interface CharFacet extends FacetPage<FacetValue> {
  readonly char: string
  readonly type: CharType
}

/** The values that can still be chosen. */
export interface FacetLists extends Partial<Record<keyof typeof FACET_BY_NAME, FacetPage<FacetValue>>> {
  /** Number of prices that match the selection. */
  readonly count: number
  readonly characteristics?: FacetPage<CharFacet>
}

/**
 * Computes the values that can still be chosen. It yields to the event loop meanwhile.
 * @throws Problem
 */
export async function computeFacets(request: FacetRequest, view: CatalogView, index: RowFinder): Promise<FacetLists> {
  const { terms, usedTerms } = view
  const query = new SearchQuery()
  const failure = resolveRequest(request, view, query)
  if (failure) throw toResolveProblem(failure)
  const selection = createSelection(query, createChoices(request, view), terms)
  const requestedChar = findRequestedChar(request, view)
  const afterValue = parseAfter(request, requestedChar, usedTerms)
  const { list } = terms
  const counts = new FacetCounts(list.length)
  await index.count(selection, counts)

  const { byTerm } = counts
  const getName = (char: number) => (list[char] as { text: string }).text
  const chars =
    requestedChar === undefined
      ? await listChars(request, byTerm, selection, getName)
      : { list: [requestedChar], more: false }
  const pages = new Map<number, TopN<FacetValue>>()
  for (const facet of [...listNameFacets(request), ...(chars?.list ?? [])])
    pages.set(facet, new TopN(request.limit, (a, b) => compareValues(a.value, b.value)))
  await forEachInTurns(byTerm.length, (term) => {
    const count = byTerm[term]!
    if (count === 0) return
    const entry = list[term]!
    const value = entry.kind === 'value' ? entry.value : entry.text
    if (afterValue !== undefined && compareValues(value, afterValue) <= 0) return
    pages.get(selection.getFacet(term))?.add({ value, count })
  })

  const buildPage = (facet: number) => toPage(pages.get(facet)!.take(), ({ value }) => String(value))
  const names = (['offerings', 'groups', 'specs'] as const).filter((name) => pages.has(FACET_BY_NAME[name]))
  return {
    count: counts.total,
    ...Object.fromEntries(names.map((name) => [name, buildPage(FACET_BY_NAME[name])])),
    ...(chars && {
      characteristics: toPage(
        {
          list: chars.list.map((char) => ({
            char: getName(char),
            type: getCharType(usedTerms, char)!,
            ...buildPage(char),
          })),
          more: chars.more,
        },
        ({ char }) => char,
      ),
    }),
  }
}

/** Returns the numbers of the requested facets among offerings, groups and specs. */
const listNameFacets = ({ facet, char }: FacetRequest): number[] =>
  char === undefined
    ? FACET_NAMES.flatMap((name) =>
        (facet ?? name) === name && name !== 'characteristics' ? [FACET_BY_NAME[name]] : [],
      )
    : []

/** Returns the term of the characteristic that a request names; undefined if it names none. */
function findRequestedChar({ char, facet }: FacetRequest, { terms, usedTerms }: CatalogView): number | undefined {
  if (char === undefined) return undefined
  if (facet !== undefined) throw errors.INCOMPATIBLE_PARAMETERS('either facet or char must be given; received both')
  const term = terms.chars.find(char)
  if (term < 0 || getCharType(usedTerms, term) === undefined) throw errors.CHARACTERISTIC_NOT_FOUND(char)
  return term
}

/** Returns the value after which a page begins; undefined for the first page, and for a list of characteristics. */
function parseAfter(
  { after, facet }: FacetRequest,
  char: number | undefined,
  usedTerms: Uint8Array,
): TermValue | undefined {
  if (after === undefined) return undefined
  if (char === undefined && facet === undefined)
    throw errors.INCOMPATIBLE_PARAMETERS('after needs facet or char; received neither')
  if (char === undefined) return facet === 'characteristics' ? undefined : after
  if (getCharType(usedTerms, char) !== 'integer') return after
  if (getValueType(Number(after)) !== 'integer')
    throw commonErrors.VALIDATION_FAILED(
      `querystring/after must be an integer such as 12; received ${formatReceived(after)}`,
    )
  return Number(after)
}

/**
 * Lists the characteristics that have a value with a count above 0, ordered by name; undefined if another list is
 * requested.
 */
async function listChars(
  { facet = 'characteristics', after }: FacetRequest,
  byTerm: Int32Array,
  { getFacet }: FacetSelection,
  getName: (char: number) => string,
) {
  if (facet !== 'characteristics') return undefined
  const facetsWithCounts = new Set<number>()
  await forEachInTurns(byTerm.length, (term) => {
    if (byTerm[term]! > 0) facetsWithCounts.add(getFacet(term))
  })
  const chars = new TopN<number>(MAX_CHARACTERISTICS, (a, b) => compareValues(getName(a), getName(b)))
  for (const char of facetsWithCounts) if (char >= 0 && (after === undefined || getName(char) > after)) chars.add(char)
  return chars.take()
}

const toPage = <T>(
  { list, more }: { list: readonly T[]; more: boolean },
  getName: (one: T) => string,
): FacetPage<T> => ({
  values: list,
  ...(more && { next: getName(list.at(-1)!) }),
})
