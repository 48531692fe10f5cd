import { toStalenessHeaders, type Replica, type ReadConsistency } from '@influencer-stats/log/replica'
import type { FastifyReply } from 'fastify'
import { errors } from '../errors.ts'

/** What a read is to see, where many machines write. (`after` is where a page of ids ended.) */
export const consistencyParameters = {
  sequence: {
    type: 'integer',
    minimum: 0,
    maximum: 999_999_999_999_999,
    description: 'All up to this `sequence`, which a change was answered with.',
  },
  linearizable: {
    type: 'boolean',
    default: false,
    description: 'All that was acknowledged before, by any machine.',
  },
} as const

/** What a read may meet that asks for that. */
export const consistencyErrors = [errors.LOG_BEHIND, errors.LOG_UNAVAILABLE] as const

/** What a change may meet where many machines write. */
export const logErrors = [errors.LOG_UNAVAILABLE, errors.OUTCOME_UNKNOWN] as const

export interface ConsistencyQuery {
  readonly sequence?: number | undefined
  readonly linearizable?: boolean | undefined
}

export const toReadRequirement = ({ sequence, linearizable }: ConsistencyQuery): ReadConsistency => ({
  after: sequence,
  linearizable,
})

/** Resolves once a read sees what is wanted, with the reply telling how new it is at least. */
export async function waitForConsistency(
  replica: Replica | undefined,
  query: unknown,
  reply: FastifyReply,
): Promise<void> {
  await replica?.waitForConsistency(toReadRequirement(query as ConsistencyQuery))
  setStalenessHeaders(replica, reply)
}

/** Has a reply tell how far this node is: before what is read, behind what was changed. */
export function setStalenessHeaders(replica: Replica | undefined, reply: FastifyReply): void {
  const headers = replica ? toStalenessHeaders(replica) : []
  for (let i = 0; i < headers.length; i += 2) reply.header(headers[i]!, headers[i + 1])
}
