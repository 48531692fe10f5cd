import { errors as house } from '@influencer-stats/runtime/errors'
import { Lowest } from './core/lowest.ts'
import type { Value } from './core/price.ts'
import { Query } from './core/query.ts'
import type { Conditions } from './core/request.ts'
import { choicesOf, resolve } from './core/resolve.ts'
import { FacetCounts, GROUPS, OFFERINGS, selectionOf, SPECS, type Selection } from './core/selection.ts'
import { compareValues, typeIn, typeOf, type CharType } from './core/terms.ts'
import { errors, problemOf } from './errors.ts'
import type { Finder } from './index/index.ts'
import { eachInTurns } from './turn.ts'
import type { View } from './view.ts'

/** The lists that are told. */
export const FACETS = ['offerings', 'groups', 'specs', 'characteristics'] as const
const NAMED = { offerings: OFFERINGS, groups: GROUPS, specs: SPECS } as const

/** So many characteristics are told at a time. */
export const MOST_CHARS = 50

/** What is asked for, and under which conditions. */
export interface FacetRequest extends Conditions {
  /** One list alone. */
  readonly facet?: (typeof FACETS)[number] | undefined
  /** The values of one characteristic alone. */
  readonly char?: string | undefined
  /** At most so many values of a list. */
  readonly limit: number
  /** Where the page before ended. */
  readonly after?: string | undefined
}

/** A part of a list, and where the next one begins. */
export interface Page<T> {
  readonly values: readonly T[]
  readonly next?: string
}

export interface FacetValue {
  readonly value: Value
  /** How many prices fit if it is chosen in place of what is chosen of its list. */
  readonly count: number
}

export interface CharFacet extends Page<FacetValue> {
  readonly char: string
  readonly type: CharType
}

/** What can still be chosen. */
export interface Facets extends Partial<Record<keyof typeof NAMED, Page<FacetValue>>> {
  /** How many prices fit what is chosen. */
  readonly count: number
  readonly characteristics?: Page<CharFacet>
}

/** Tells what can still be chosen. Others have their turns of the loop meanwhile. @throws Problem */
export async function tellFacets(request: FacetRequest, view: View, index: Finder): Promise<Facets> {
  const { terms, live } = view
  const query = new Query()
  const miss = resolve(request, view, query)
  if (miss) throw problemOf(miss)
  const selection = selectionOf(query, choicesOf(request, view), terms)
  const asked = askedChar(request, view)
  const first = firstOf(request, asked, live)
  const { list } = terms
  const counts = new FacetCounts(list.length)
  await index.count(selection, counts)

  const { ofTerm } = counts
  const nameOf = (char: number) => (list[char] as { text: string }).text
  const chars = asked === undefined ? await charsOf(request, ofTerm, selection, nameOf) : { list: [asked], more: false }
  const pages = new Map<number, Lowest<FacetValue>>()
  for (const facet of [...namedOf(request), ...(chars?.list ?? [])])
    pages.set(facet, new Lowest(request.limit, (a, b) => compareValues(a.value, b.value)))
  await eachInTurns(ofTerm.length, (term) => {
    const count = ofTerm[term]!
    if (count === 0) return
    const known = list[term]!
    const value = known.kind === 'value' ? known.value : known.text
    if (first !== undefined && compareValues(value, first) <= 0) return
    pages.get(selection.facetOf(term))?.offer({ value, count })
  })

  const pageOf = (facet: number) => toPage(pages.get(facet)!.take(), ({ value }) => String(value))
  const names = (['offerings', 'groups', 'specs'] as const).filter((name) => pages.has(NAMED[name]))
  return {
    count: counts.total,
    ...Object.fromEntries(names.map((name) => [name, pageOf(NAMED[name])])),
    ...(chars && {
      characteristics: toPage(
        {
          list: chars.list.map((char) => ({ char: nameOf(char), type: typeIn(live, char)!, ...pageOf(char) })),
          more: chars.more,
        },
        ({ char }) => char,
      ),
    }),
  }
}

/** The facets of names that a request wants to be told of. */
const namedOf = ({ facet, char }: FacetRequest): number[] =>
  char === undefined
    ? FACETS.flatMap((name) => ((facet ?? name) === name && name !== 'characteristics' ? [NAMED[name]] : []))
    : []

/** The characteristic that a request asks for alone. */
function askedChar({ char, facet }: FacetRequest, { terms, live }: View): number | undefined {
  if (char === undefined) return undefined
  if (facet !== undefined) throw errors.QUERY_CLASH('either facet or char')
  const term = terms.chars.find(char)
  if (term < 0 || typeIn(live, term) === undefined) throw errors.CHARACTERISTIC_NOT_FOUND(char)
  return term
}

/** The value that a page begins behind; nothing for the first page, and where characteristics are listed. */
function firstOf({ after, facet }: FacetRequest, char: number | undefined, live: Uint8Array): Value | undefined {
  if (after === undefined) return undefined
  if (char === undefined && facet === undefined) throw errors.QUERY_CLASH('after needs facet or char')
  if (char === undefined) return facet === 'characteristics' ? undefined : after
  if (typeIn(live, char) !== 'integer') return after
  if (typeOf(Number(after)) !== 'integer') throw house.VALIDATION_FAILED('querystring/after is no integer')
  return Number(after)
}

/** The characteristics that are told of: those of which something is left, in the order of their names. */
async function charsOf(
  { facet = 'characteristics', after }: FacetRequest,
  ofTerm: Int32Array,
  { facetOf }: Selection,
  nameOf: (char: number) => string,
) {
  if (facet !== 'characteristics') return undefined
  const left = new Set<number>()
  await eachInTurns(ofTerm.length, (term) => {
    if (ofTerm[term]! > 0) left.add(facetOf(term))
  })
  const told = new Lowest<number>(MOST_CHARS, (a, b) => compareValues(nameOf(a), nameOf(b)))
  for (const char of left) if (char >= 0 && (after === undefined || nameOf(char) > after)) told.offer(char)
  return told.take()
}

const toPage = <T>({ list, more }: { list: readonly T[]; more: boolean }, nameOf: (one: T) => string): Page<T> => ({
  values: list,
  ...(more && { next: nameOf(list.at(-1)!) }),
})
