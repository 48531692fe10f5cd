import type { FromSchema } from 'json-schema-to-ts'

/** The faults that can be set. A fault is inactive if it is absent. */
export const faultsSchema = {
  type: 'object',
  title: 'Faults',
  examples: [{ latencyMs: 10, errorRate: 0 }],
  additionalProperties: false,
  properties: {
    latencyMs: { type: 'integer', minimum: 0, maximum: 600_000, description: 'Every reply waits this long.' },
    errorRate: { type: 'number', minimum: 0, maximum: 1, description: 'Share of calls that fail, evenly spaced.' },
    errorStatus: {
      type: 'integer',
      minimum: 400,
      maximum: 599,
      description: 'Status of those that fail; 503 if absent.',
    },
    errorReason: {
      type: 'string',
      pattern: '^[A-Za-z]{1,64}$',
      description: "Reason of those that fail; if absent, Google's usual one for the status.",
    },
    quotaLeft: {
      type: 'integer',
      minimum: 0,
      maximum: 2_147_483_647,
      description: 'Calls left before `quotaExceeded`.',
    },
    hang: { type: 'boolean', description: 'No reply ever comes.' },
    cut: {
      type: 'string',
      enum: ['before', 'halfway'],
      description: 'The connection ends before the reply, or in the middle of its body.',
    },
    gone: {
      type: 'array',
      maxItems: 1_000,
      items: { type: 'string', pattern: '^[A-Za-z0-9_-]{11}$' },
      description: 'Videos that are left out, as if they were removed or made private.',
    },
    malformed: { type: 'boolean', description: 'The body is the first half of the JSON that it should be.' },
  },
} as const

/** The active faults of the stand-in. */
export type Faults = FromSchema<typeof faultsSchema>

// Prevents 0.29 * 100 from counting as 28.
const ROUNDING_TOLERANCE = 1e-9

/**
 * True if the `n`th call (from 0) fails. Exactly the share `rate` fails, evenly spaced, so that a test knows how many
 * of its calls fail. At 0.25 it is every fourth.
 */
export function isFailing(n: number, rate: number): boolean {
  return Math.floor((n + 1) * rate + ROUNDING_TOLERANCE) > Math.floor(n * rate + ROUNDING_TOLERANCE)
}
