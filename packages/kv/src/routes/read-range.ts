import { FIRST_KEY, getNextKey, getPrefixEnd } from '../core/key-order.ts'
import { errors } from '../errors.ts'
import type { KvRange } from '../store/store.ts'
import { readCount, readFlag, readRequiredKey } from './read-query.ts'

/** Parameters that `readBounds` reads. */
export const BOUND_PARAMETERS = ['prefix', 'start', 'end']
/** Parameters that `readRange` reads. */
export const RANGE_PARAMETERS = [...BOUND_PARAMETERS, 'cursor', 'limit', 'reverse']

type RangeBounds = Pick<KvRange, 'start' | 'end'>

/** Returns the range of a query string. @throws QUERY_INVALID, KEY_TOO_LARGE */
export function readRange(parameter: (name: string) => Buffer | undefined): KvRange {
  const limit = readCount(parameter('limit'), 'limit')
  const reverse = readFlag(parameter('reverse'), 'reverse')
  const cursor = readKey(parameter, 'cursor')
  const bounds = readBounds(parameter)
  return { ...(cursor ? toBoundsAfter(cursor, bounds, reverse) : bounds), reverse, ...(limit && { limit }) }
}

/** Returns the bounds in a query string: those of all keys if it has none. @throws QUERY_INVALID, KEY_TOO_LARGE */
export function readBounds(parameter: (name: string) => Buffer | undefined): RangeBounds {
  const [prefix, start, end] = BOUND_PARAMETERS.map((name) => readKey(parameter, name))
  if (prefix && (start || end))
    throw errors.QUERY_INVALID(
      `"prefix" must come without "start" and "end"; received "prefix" and "${start ? 'start' : 'end'}"`,
    )
  const last = prefix ? getPrefixEnd(prefix.toString()) : end
  return { start: prefix ?? start ?? FIRST_KEY, ...(last !== undefined && { end: Buffer.from(last) }) }
}

/** Returns the part of the bounds after the cursor, in the direction of the scan. */
function toBoundsAfter(cursor: Buffer, { start, end }: RangeBounds, reverse: boolean): RangeBounds {
  if (reverse) return { start, end: end && Buffer.compare(end, cursor) < 0 ? end : cursor }
  return { start: Buffer.compare(start, cursor) > 0 ? start : getNextKey(cursor), ...(end && { end }) }
}

function readKey(parameter: (name: string) => Buffer | undefined, name: string): Buffer | undefined {
  const key = parameter(name)
  return key && readRequiredKey(key, name)
}
