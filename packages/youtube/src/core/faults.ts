import type { FromSchema } from 'json-schema-to-ts'

/** The faults that can be set. A fault is inactive if it is absent. */
export const faultsSchema = {
  type: 'object',
  title: 'Faults',
  examples: [{ latencyMs: 10, errorRate: 0 }],
  additionalProperties: false,
  properties: {
    latencyMs: { type: 'integer', minimum: 0, maximum: 600_000, description: 'Delay of every reply (ms).' },
    errorRate: { type: 'number', minimum: 0, maximum: 1, description: 'Ratio of calls that fail, evenly spaced.' },
    errorStatus: {
      type: 'integer',
      minimum: 400,
      maximum: 599,
      description: 'Status of failed calls; 503 if absent.',
    },
    errorReason: {
      type: 'string',
      pattern: '^[A-Za-z]{1,64}$',
      description: 'Reason of failed calls; by default the one that Google uses with the status.',
    },
    quotaLeft: {
      type: 'integer',
      minimum: 0,
      maximum: 2_147_483_647,
      description: 'Remaining calls before `quotaExceeded`.',
    },
    hang: { type: 'boolean', description: 'True: calls get no reply.' },
    cut: {
      type: 'string',
      enum: ['before', 'halfway'],
      description: 'Position at which the connection ends: before the reply, or in the middle of its body.',
    },
    gone: {
      type: 'array',
      maxItems: 1_000,
      items: { type: 'string', pattern: '^[A-Za-z0-9_-]{11}$' },
      description: 'Omitted videos, as if they were removed or private.',
    },
    malformed: { type: 'boolean', description: 'True: the body is only the first half of its JSON.' },
  },
} as const

/** The active faults of the stand-in. */
export type Faults = FromSchema<typeof faultsSchema>

/** Added before a product is rounded down: 100 * 0.29 is 28.999999999999996, and must count as 29. */
const ROUNDING_TOLERANCE = 1e-9

/**
 * True if the `n`th call (from 0) fails. Exactly the share `rate` fails, evenly spaced, so that a test knows how many
 * of its calls fail. At 0.25 it is every fourth.
 */
export function isFailing(n: number, rate: number): boolean {
  return Math.floor((n + 1) * rate + ROUNDING_TOLERANCE) > Math.floor(n * rate + ROUNDING_TOLERANCE)
}
