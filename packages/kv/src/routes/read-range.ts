import { FIRST_KEY, keyAfter, prefixEnd } from '../core/key-order.ts'
import { errors } from '../errors.ts'
import type { Range } from '../store/store.ts'
import { readCount, readFlag, requireKey } from './read-query.ts'

/** Parameters that `readBounds` and `readRange` read. */
export const BOUNDS = ['prefix', 'start', 'end']
export const RANGE_PARAMETERS = [...BOUNDS, 'cursor', 'limit', 'reverse']

type Bounds = Pick<Range, 'start' | 'end'>

/** Returns the range of a query string. @throws QUERY_INVALID, KEY_TOO_LARGE */
export function readRange(parameter: (name: string) => Buffer | undefined): Range {
  const limit = readCount(parameter('limit'), 'limit')
  const reverse = readFlag(parameter('reverse'), 'reverse')
  const cursor = readKey(parameter, 'cursor')
  const bounds = readBounds(parameter)
  return { ...(cursor ? boundsBehind(cursor, bounds, reverse) : bounds), reverse, ...(limit && { limit }) }
}

/** Returns the bounds of a query string; without them all keys. @throws QUERY_INVALID, KEY_TOO_LARGE */
export function readBounds(parameter: (name: string) => Buffer | undefined): Bounds {
  const [prefix, start, end] = BOUNDS.map((name) => readKey(parameter, name))
  if (prefix && (start || end)) throw errors.QUERY_INVALID('"prefix" stands for "start" and "end"')
  const last = prefix ? prefixEnd(prefix.toString()) : end
  return { start: prefix ?? start ?? FIRST_KEY, ...(last !== undefined && { end: Buffer.from(last) }) }
}

/** Returns the part of the bounds after the cursor, in the direction of the scan. */
function boundsBehind(cursor: Buffer, { start, end }: Bounds, reverse: boolean): Bounds {
  if (reverse) return { start, end: end && Buffer.compare(end, cursor) < 0 ? end : cursor }
  return { start: Buffer.compare(start, cursor) > 0 ? start : keyAfter(cursor), ...(end && { end }) }
}

function readKey(parameter: (name: string) => Buffer | undefined, name: string): Buffer | undefined {
  const key = parameter(name)
  return key && requireKey(key, name)
}
