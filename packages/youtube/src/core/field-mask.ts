import { googleErrors } from './google-errors.ts'

/** The selected fields of a value: all, or the named fields. Each named field has a mask for the fields below it. */
export type FieldMask = 'all' | ReadonlyMap<string, FieldMask>

/**
 * Fields that exist in a value: none (`leaf`), fields of any name (`any`), or the named fields with their shapes. A list
 * has the fields of its items.
 */
export type FieldShape = 'leaf' | 'any' | { readonly [name: string]: FieldShape }

const FIELD_NAME = /[A-Za-z0-9_-]+|\*/y

/**
 * Parses Google's syntax of partial responses: `items(id,statistics/viewCount),pageInfo`; `*` matches every field.
 * @throws GoogleError `invalidParameter` if the syntax is wrong or a field does not exist
 */
export function parseFields(text: string, root: FieldShape): FieldMask {
  let at = 0

  function parseList(shapes: readonly FieldShape[]): FieldMask {
    let mask: FieldMask = new Map()
    do mask = mergeMasks(mask, parseSelector(shapes))
    while (take(','))
    return mask
  }

  // After `*` in a path, a selector applies to several shapes. It is valid if one of them has the field.
  function parseSelector(shapes: readonly FieldShape[]): FieldMask {
    FIELD_NAME.lastIndex = at
    const name = FIELD_NAME.exec(text)?.[0]
    if (name === undefined) throw createFieldError(text)
    at += name.length
    const below = shapes.flatMap((shape) => getFields(shape, name))
    if (below.length === 0) throw createFieldError(name)
    if (take('/')) return new Map([[name, parseSelector(below)]])
    if (!take('(')) return new Map([[name, 'all']])
    const mask = parseList(below)
    if (!take(')')) throw createFieldError(text)
    return new Map([[name, mask]])
  }

  function take(sign: string): boolean {
    if (text[at] !== sign) return false
    at++
    return true
  }

  const mask = parseList([root])
  if (at < text.length) throw createFieldError(text)
  return mask
}

const createFieldError = (selection: string) =>
  googleErrors.PARAMETER_INVALID(`Invalid field selection ${selection}`, 'fields')

function getFields(shape: FieldShape, name: string): FieldShape[] {
  if (shape === 'leaf') return []
  if (shape === 'any') return ['any']
  if (name === '*') return Object.values(shape)
  return Object.hasOwn(shape, name) ? [shape[name]!] : []
}

/** Returns the union of two masks. */
function mergeMasks(one: FieldMask, other: FieldMask): FieldMask {
  if (one === 'all' || other === 'all') return 'all'
  const both = new Map(one)
  for (const [name, mask] of other) {
    const known = both.get(name)
    both.set(name, known === undefined ? mask : mergeMasks(known, mask))
  }
  return both
}

/** Returns the part of a value that a mask selects. In a list, the mask applies to each item. */
export function applyMask(value: unknown, mask: FieldMask): unknown {
  if (mask === 'all' || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => applyMask(item, mask))
  const selected: Record<string, unknown> = {}
  const wildcard = mask.get('*')
  for (const [name, field] of Object.entries(value)) {
    const named = mask.get(name)
    const own = named && wildcard ? mergeMasks(named, wildcard) : (named ?? wildcard)
    if (own !== undefined && hasFields(field, own)) selected[name] = applyMask(field, own)
  }
  return selected
}

/**
 * False if the value is plain and the mask selects fields below it. This occurs after `*`, which also matches plain
 * values.
 */
function hasFields(value: unknown, mask: FieldMask): boolean {
  if (mask === 'all') return true
  if (Array.isArray(value)) return value.every((item) => hasFields(item, mask))
  return typeof value === 'object' && value !== null
}
