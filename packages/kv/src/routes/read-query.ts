import type { ReadConsistency } from '@influencer-stats/log/replica'
import { formatReceived } from '@influencer-stats/runtime/received-value'
import { MAX_KEY_BYTES, MAX_TIME_MS } from '../core/key-limits.ts'
import type { KvQuery } from '../core/parse-query.ts'
import { errors } from '../errors.ts'

/**
 * Returns a function that returns the value of a parameter by its name; `undefined` if the parameter is absent.
 * @throws QUERY_INVALID for an invalid query string, and for a parameter that is not in `names`
 */
export function readQuery(query: unknown, names: readonly string[]): (name: string) => Buffer | undefined {
  const { fault, names: present, values } = query as KvQuery
  if (fault !== undefined) throw errors.QUERY_INVALID(fault)
  for (const name of present)
    if (!names.includes(name))
      throw errors.QUERY_INVALID(`${formatReceived(name)} is an unknown parameter; known: ${names.join(', ')}`)
  return (name) => {
    const index = present.indexOf(name)
    return index < 0 ? undefined : values[index]
  }
}

const createInvalid = (name: string, expected: string, text: string) =>
  errors.QUERY_INVALID(`"${name}" must be ${expected}; received ${formatReceived(text)}`)

/** @throws QUERY_INVALID if it is missing, KEY_TOO_LARGE */
export function readRequiredKey(key: Buffer | undefined, name: string): Buffer {
  if (!key) throw errors.QUERY_INVALID(`"${name}" must be a key of 1 to ${MAX_KEY_BYTES} bytes; received no value`)
  if (key.length > MAX_KEY_BYTES)
    throw errors.KEY_TOO_LARGE(`"${name}" must be at most ${MAX_KEY_BYTES} bytes; received ${key.length}`)
  return key
}

/** Parses a flag; false if it is absent. @throws QUERY_INVALID for any other text than `true` or `false` */
export function readFlag(value: Buffer | undefined, name: string): boolean {
  const text = value?.toString() ?? 'false'
  if (text !== 'true' && text !== 'false') throw createInvalid(name, 'true or false', text)
  return text === 'true'
}

/** Returns the consistency that a read requires, if any. @throws QUERY_INVALID */
export function readConsistency(parameter: (name: string) => Buffer | undefined): ReadConsistency | undefined {
  const after = readSequence(parameter('after')?.toString(), 'after')
  const linearizable = readFlag(parameter('linearizable'), 'linearizable')
  return after === undefined && !linearizable ? undefined : { linearizable, ...(after !== undefined && { after }) }
}

/** Parses a sequence. @throws QUERY_INVALID */
export function readSequence(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined
  if (!SEQUENCE_PATTERN.test(text)) throw createInvalid(name, 'a sequence from 0 to 999999999999999', text)
  return Number(text)
}

const SEQUENCE_PATTERN = /^(?:0|[1-9][0-9]{0,14})$/

/** Parses a time (ms since 1970). @throws QUERY_INVALID */
export function readTime(value: Buffer | undefined, name: string): number | undefined {
  if (value === undefined) return undefined
  const text = value.toString()
  const time = SEQUENCE_PATTERN.test(text) ? Number(text) : 0
  if (time < 1 || time > MAX_TIME_MS)
    throw createInvalid(name, `a time in ms since 1970, from 1 to ${MAX_TIME_MS}`, text)
  return time
}

const COUNT_PATTERN = /^[1-9][0-9]{0,8}$/

/** Parses a count. @throws QUERY_INVALID unless it is a whole number from 1 to 999,999,999 */
export function readCount(value: Buffer | undefined, name: string): number | undefined {
  const text = value?.toString()
  if (text === undefined) return undefined
  if (!COUNT_PATTERN.test(text)) throw createInvalid(name, 'a whole number from 1 to 999999999', text)
  return Number(text)
}
