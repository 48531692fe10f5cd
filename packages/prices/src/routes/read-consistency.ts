import { toStalenessHeaders, type Replica, type ReadConsistency } from '@influencer-stats/log/replica'
import type { FastifyReply } from 'fastify'
import { errors } from '../errors.ts'

/**
 * Consistency parameters of a read, on a cluster. The parameter for the sequence is not named `after` as in kv, because
 * here `after` is the cursor of the previous page.
 */
export const consistencyParameters = {
  sequence: {
    type: 'integer',
    minimum: 0,
    maximum: 999_999_999_999_999,
    description: 'The read sees this `sequence` and all before it. Replies to changes have a header `sequence`.',
  },
  linearizable: {
    type: 'boolean',
    default: false,
    description: 'The read sees every change that any node acknowledged before it.',
  },
} as const

/** Errors of a read with these parameters. */
export const consistencyErrors = [errors.SEQUENCE_WAIT_TIMEOUT, errors.LOG_UNAVAILABLE] as const

/** Errors of a change on a cluster. */
export const logErrors = [errors.LOG_UNAVAILABLE, errors.OUTCOME_UNKNOWN] as const

export interface ConsistencyQuery {
  readonly sequence?: number | undefined
  readonly linearizable?: boolean | undefined
}

export const toReadRequirement = ({ sequence, linearizable }: ConsistencyQuery): ReadConsistency => ({
  after: sequence,
  linearizable,
})

/** Resolves when a read meets the requested consistency, and sets the staleness headers of the reply. */
export async function waitForConsistency(
  replica: Replica | undefined,
  query: unknown,
  reply: FastifyReply,
): Promise<void> {
  await replica?.waitForConsistency(toReadRequirement(query as ConsistencyQuery))
  setStalenessHeaders(replica, reply)
}

/** Sets the headers with this node's position in the log: before a read, or after a change. */
export function setStalenessHeaders(replica: Replica | undefined, reply: FastifyReply): void {
  const headers = replica ? toStalenessHeaders(replica) : []
  for (let i = 0; i < headers.length; i += 2) reply.header(headers[i]!, headers[i + 1])
}
