import { MAX_TIME_MS } from '../core/key-limits.ts'

const TRUE_OR_FALSE = { type: 'string', enum: ['true', 'false'] } as const

/** Disables the validation of query strings, which `read-query.ts` parses. These schemas are for the API document. */
export const undocumentedChecks = { validatorCompiler: () => () => true } as const

export const key = {
  type: 'string',
  minLength: 1,
  description: '1 to 1,024 bytes of UTF-8.',
  examples: ['greeting'],
} as const

const plainKey = { type: 'string', minLength: 1 } as const

/** The bounds of a range. */
export const bounds = {
  prefix: { ...key, description: 'All keys that begin with it, in place of `start` and `end`.', examples: ['gree'] },
  start: { ...plainKey, description: 'The first key; without it, the first there is.' },
  end: { ...plainKey, description: 'The first key that is left out; without it, to the last there is.' },
} as const

/** Parameters of a range. */
export const rangeParameters = {
  ...bounds,
  limit: { type: 'integer', minimum: 1, maximum: 999_999_999, description: 'At most this many.' },
  cursor: { ...plainKey, description: 'Continue behind this key: `next` of the page before.' },
  reverse: { ...TRUE_OR_FALSE, description: 'From the last key to the first.' },
  keys: { ...TRUE_OR_FALSE, description: 'Keys without values: `{"id":"k"}`.' },
  count: { ...TRUE_OR_FALSE, description: 'The number of entries in place of the entries.' },
} as const

export const durable = { ...TRUE_OR_FALSE, description: 'Answer only once it would survive a power cut.' } as const

export const ttl = {
  type: 'integer',
  minimum: 1,
  maximum: 999_999_999,
  description: 'The value is gone after so many seconds; without it, it stays.',
} as const

export const time = {
  type: 'integer',
  minimum: 1,
  maximum: MAX_TIME_MS,
  description: 'The value is absent from this time on (ms since 1970).',
} as const

export const idempotency = {
  type: 'object',
  properties: {
    'idempotency-key': {
      type: 'string',
      pattern: '^("[!#-\\[\\]-~]{1,255}"|[!#-\\[\\]-~]{1,255})$',
      description: 'A change that was made with it in the last hour is not made again: the reply is that of the first.',
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
        '`respond-async` (RFC 7240): 202 once the value waits to be written, where nothing else is asked for and there is room in the queue; a process that is killed loses what it had not written yet.',
    },
  },
} as const

/** Parameters for the consistency of a read, in a cluster. */
export const consistencyParameters = {
  after: {
    type: 'string',
    pattern: '^(0|[1-9][0-9]{0,14})$',
    description: 'All up to this `sequence`, which a change was answered with.',
  },
  linearizable: { ...TRUE_OR_FALSE, description: 'All that was acknowledged before, by any machine.' },
} as const

export const bytes = { type: 'string', format: 'binary' } as const

export const octets = { 'application/octet-stream': { schema: bytes } } as const
