/** Entity tag in a condition. */
export interface ConditionTag {
  readonly tag: string
  readonly isWeak: boolean
}

export type ConditionTags = '*' | readonly ConditionTag[]

export interface Conditions {
  readonly ifMatch?: ConditionTags
  readonly ifNoneMatch?: ConditionTags
}

interface ModelChange {
  readonly durable?: boolean
  readonly idempotencyKey?: string
}

export interface ModelPut extends ModelChange, Conditions {
  readonly type: 'put'
  readonly key: string
  readonly value: Buffer
  /** seconds */
  readonly ttl?: number
  /** `Prefer: respond-async` */
  readonly prefersAsync?: boolean
}

export interface ModelDelete extends ModelChange, Conditions {
  readonly type: 'delete'
  readonly key: string
}

interface ReadOperation<Type extends string> extends Conditions {
  readonly type: Type
  readonly key: string
}

export type ModelRead = ReadOperation<'get'> | ReadOperation<'head'>

/** Line of a batch; `expiresAt` in ms since 1970, `ttl` in seconds. */
export type BatchLine =
  | {
      readonly op: 'put'
      readonly id: string
      readonly value: Buffer
      readonly isBase64: boolean
      readonly ttl?: number
      readonly expiresAt?: number
    }
  | { readonly op: 'delete'; readonly id: string }
  | {
      /** Changes the expiry of a value and has no effect without a value. With null, the value never expires. */
      readonly op: 'expire'
      readonly id: string
      readonly ttl?: number
      readonly expiresAt?: number | null
    }

/**
 * Changes the expiry of a value, but not the value: after `ttl` (s), at `expiresAt` (ms since 1970), or without both never.
 */
export interface SetExpiry extends Conditions {
  readonly type: 'set-expiry'
  readonly key: string
  readonly ttl?: number
  readonly expiresAt?: number
  readonly durable?: boolean
}

/** Reads the expiry of a value. */
export interface GetExpiry {
  readonly type: 'get-expiry'
  readonly key: string
}

export interface ModelBatch extends ModelChange, Conditions {
  readonly type: 'batch'
  readonly lines: readonly BatchLine[]
  /** Invalid line at this index, for which the server refuses the whole batch. */
  readonly badLine?: { readonly at: number; readonly text: string; readonly code: string }
}

export interface ModelRange {
  readonly type: 'range'
  readonly start?: string
  readonly end?: string
  /** Alternative to `start` and `end`. */
  readonly prefix?: string
  /** Key after which the range continues. */
  readonly cursor?: string
  readonly limit?: number
  readonly reverse?: boolean
  readonly output: 'ndjson' | 'chunks' | 'keys' | 'count'
}

/** Reads the values of many keys at one moment. */
export interface ModelGetMany {
  readonly type: 'get-many'
  readonly ids: readonly string[]
}

/** Request that the server refuses in every state. */
export interface RefusedRequest {
  readonly type: 'refused'
  readonly method: string
  readonly target: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer
  readonly status: number
  readonly code: string
}

export type KeyOperation = ModelPut | ModelDelete | ModelRead | SetExpiry | GetExpiry
export type ModelOperation = KeyOperation | ModelBatch | ModelRange | ModelGetMany | RefusedRequest

/** Returns the keys that an operation names. */
export function getKeys(operation: ModelOperation): readonly string[] {
  if (operation.type === 'batch') return operation.lines.map(({ id }) => id)
  if (operation.type === 'get-many') return operation.ids
  if (operation.type === 'range' || operation.type === 'refused') return []
  return [operation.key]
}

const MAX_SHOWN = 32

/** Formats a key for display: its text, shortened if it is long, and its length (bytes). */
export function showKey(key: string): string {
  const characters = [...key]
  const isLong = characters.length > MAX_SHOWN
  const shown = isLong
    ? [...characters.slice(0, MAX_SHOWN / 2), '...', ...characters.slice(-MAX_SHOWN / 4)]
    : characters
  return `${JSON.stringify(shown.join(''))} (${Buffer.byteLength(key)} bytes)`
}

export const showValue = (value: Buffer): string =>
  `${value.length} bytes ${JSON.stringify(value.toString('latin1', 0, 40))}`

const KEY_NAMES = new Set(['key', 'id', 'start', 'end', 'prefix', 'cursor'])

/** Formats an operation as one line for display. */
export function showOperation(operation: ModelOperation): string {
  return JSON.stringify(operation, (name, value) => {
    if (value?.type === 'Buffer') return showValue(Buffer.from(value.data))
    if (name === 'ids') return (value as string[]).map(showKey)
    return typeof value === 'string' && KEY_NAMES.has(name) ? showKey(value) : value
  })
}
