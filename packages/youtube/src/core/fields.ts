import { googleErrors } from './google-errors.ts'

/** Which fields a reply keeps: all, or those named, each with what it keeps of its own fields. */
export type Mask = 'all' | ReadonlyMap<string, Mask>

/** The fields that exist: a leaf, fields of any name, or named ones. Lists count as what they hold. */
export type Shape = 'leaf' | 'any' | { readonly [name: string]: Shape }

const NAME = /[A-Za-z0-9_-]+|\*/y

/**
 * Parses Google's syntax of partial responses: `items(id,statistics/viewCount),pageInfo`; `*` stands for every field.
 * @throws GoogleError `invalidParameter` where the syntax is wrong or a field does not exist
 */
export function parseFields(text: string, root: Shape): Mask {
  let at = 0

  function list(shapes: readonly Shape[]): Mask {
    let mask: Mask = new Map()
    do mask = union(mask, selector(shapes))
    while (take(','))
    return mask
  }

  // A selector beneath `*` may fit one of several shapes.
  function selector(shapes: readonly Shape[]): Mask {
    NAME.lastIndex = at
    const name = NAME.exec(text)?.[0]
    if (name === undefined) throw invalid(text)
    at += name.length
    const below = shapes.flatMap((shape) => fieldsOf(shape, name))
    if (below.length === 0) throw invalid(name)
    if (take('/')) return new Map([[name, selector(below)]])
    if (!take('(')) return new Map([[name, 'all']])
    const mask = list(below)
    if (!take(')')) throw invalid(text)
    return new Map([[name, mask]])
  }

  function take(sign: string): boolean {
    if (text[at] !== sign) return false
    at++
    return true
  }

  const mask = list([root])
  if (at < text.length) throw invalid(text)
  return mask
}

const invalid = (selection: string) => googleErrors.PARAMETER_INVALID(`Invalid field selection ${selection}`, 'fields')

function fieldsOf(shape: Shape, name: string): Shape[] {
  if (shape === 'leaf') return []
  if (shape === 'any') return ['any']
  if (name === '*') return Object.values(shape)
  return Object.hasOwn(shape, name) ? [shape[name]!] : []
}

/** What either mask keeps. */
export function union(one: Mask, other: Mask): Mask {
  if (one === 'all' || other === 'all') return 'all'
  const both = new Map(one)
  for (const [name, mask] of other) {
    const known = both.get(name)
    both.set(name, known === undefined ? mask : union(known, mask))
  }
  return both
}

/** What a mask keeps of a value; a list's items are masked one by one. */
export function applyMask(value: unknown, mask: Mask): unknown {
  if (mask === 'all' || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => applyMask(item, mask))
  const kept: Record<string, unknown> = {}
  const wildcard = mask.get('*')
  for (const [name, field] of Object.entries(value)) {
    const named = mask.get(name)
    const own = named && wildcard ? union(named, wildcard) : (named ?? wildcard)
    if (own !== undefined && hasFields(field, own)) kept[name] = applyMask(field, own)
  }
  return kept
}

/** Whether a value can have what a mask names: what `*` stands for may be a plain value as well. */
function hasFields(value: unknown, mask: Mask): boolean {
  if (mask === 'all') return true
  if (Array.isArray(value)) return value.every((item) => hasFields(item, mask))
  return typeof value === 'object' && value !== null
}
