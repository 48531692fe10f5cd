import { MAX_TIME_MS } from '../core/key-limits.ts'

export const TRUE_OR_FALSE = { type: 'string', enum: ['true', 'false'] } as const

/** Disables the validation by schemas: `read-query.ts` checks query strings. The schemas only document the API. */
export const withoutValidation = { validatorCompiler: () => () => true } as const

export const key = {
  type: 'string',
  minLength: 1,
  description: '1 to 1,024 bytes of UTF-8.',
  examples: ['greeting'],
} as const

const plainKey = { type: 'string', minLength: 1 } as const

/** Parameters with the bounds of a range. */
export const bounds = {
  prefix: {
    ...key,
    description: 'Prefix of the keys. It cannot be combined with `start` or `end`.',
    examples: ['gree'],
  },
  start: {
    ...plainKey,
    description: 'First key of the range; by default the range begins with the first of all keys.',
  },
  end: { ...plainKey, description: 'First key after the range; by default the range ends with the last of all keys.' },
} as const

/** Parameters of a range. */
export const rangeParameters = {
  ...bounds,
  limit: { type: 'integer', minimum: 1, maximum: 999_999_999, description: 'Maximum number of entries.' },
  cursor: { ...plainKey, description: 'Continue after this key: the header `next` of the previous page.' },
  reverse: { ...TRUE_OR_FALSE, description: 'Descending order of keys.' },
  keys: { ...TRUE_OR_FALSE, description: 'Keys without values: `{"id":"k"}`.' },
  count: { ...TRUE_OR_FALSE, description: 'Number of entries instead of the entries.' },
} as const

export const durable = { ...TRUE_OR_FALSE, description: 'Reply only after the change is durable (fsync).' } as const

export const ttl = {
  type: 'integer',
  minimum: 1,
  maximum: 999_999_999,
  description: 'Time to expiry (s); by default the value does not expire.',
} as const

export const time = {
  type: 'integer',
  minimum: 1,
  maximum: MAX_TIME_MS,
  description: 'Expiry time (ms since 1970).',
} as const

export const idempotency = {
  type: 'object',
  properties: {
    'idempotency-key': {
      type: 'string',
      pattern: '^("[!#-\\[\\]-~]{1,255}"|[!#-\\[\\]-~]{1,255})$',
      description:
        'A change with the same key in the last hour is not repeated: the reply is that of the first request.',
    },
  },
} as const

/** Headers of a PUT. */
export const preference = {
  type: 'object',
  properties: {
    ...idempotency.properties,
    prefer: {
      type: 'string',
      description:
        '`respond-async` (RFC 7240): 202 as soon as the write is queued. It applies on a standalone service with space in the queue, to a request without `durable`, `ttl`, conditions or `Idempotency-Key`. A process that is killed loses its queued writes.',
    },
  },
} as const

/** Parameters for the consistency of a read, in a cluster. */
export const consistencyParameters = {
  after: {
    type: 'string',
    pattern: '^(0|[1-9][0-9]{0,14})$',
    description:
      'The read sees all changes up to this sequence. In a cluster, replies have the header `sequence`, which may be used here.',
  },
  linearizable: { ...TRUE_OR_FALSE, description: 'The read sees every change that any node acknowledged before it.' },
} as const

export const bytes = { type: 'string', format: 'binary' } as const

export const octets = { 'application/octet-stream': { schema: bytes } } as const
