import { StartError } from '@influencer-stats/runtime/errors'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSuccessor, inspectLog, type LogDescription, type SuccessorOptions } from '../successor.ts'
import { choosePlan, type RescuePlan } from './choose-plan.ts'
import type { PreparedSnapshot, RescueSource } from './rescue-source.ts'

export interface RescueOptions extends Omit<
  SuccessorOptions,
  'ancestor' | 'snapshot' | 'replace' | 'onStep' | 'cluster'
> {
  /** Name of the cluster; empty for none. */
  readonly cluster: string
  readonly sources: readonly RescueSource[]
  /**
   * Resolves with true if the stream may be deleted.
   * @throws StartError `LOG_EXISTS` if nobody can answer
   */
  confirm(question: string): Promise<boolean>
  /** Called before each step, and with each finding. */
  onStep(text: string): void
}

/**
 * Continues a lost log from the most advanced source. It can be repeated after a failure at any point.
 * @throws StartError
 */
export async function rescueLog(options: RescueOptions): Promise<void> {
  const { service, stream, nats, sources, onStep } = options
  const [first, ...others] = sources
  if (!first)
    throw new StartError('NO_STATE', 'no node has state, so there is nothing to rescue: the nodes create an empty log')
  for (const { name, position, writeFault } of sources)
    onStep(
      `${name} has sequence ${position.seq} of the log of ${position.epoch}${writeFault ? ` (${writeFault})` : ''}`,
    )
  const log = await inspectLog({ nats, service, stream })
  if (log) checkOwner(options, log)
  onStep(log ? `found ${describeStream(stream, log)}` : `stream ${stream} does not exist`)
  const plan = await choosePlan(service, [first, ...others], log, async (position) => {
    const described = await inspectLog({ nats, service, stream, position })
    return described ? described.mismatch : 'it was deleted'
  })
  if (plan.action === 'none') return onStep(`stream ${stream} needs no rescue: it has all entries of these nodes`)
  const folder = await mkdtemp(join(tmpdir(), 'influencer-stats-rescue-'))
  try {
    await continueLog(options, log, plan, folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** @throws StartError `LOG_FOREIGN`, `CLUSTER_MISMATCH`, `LOG_UNREACHABLE` if the stream must not be deleted */
function checkOwner({ service, stream, cluster }: RescueOptions, log: LogDescription): void {
  if (log.service !== service)
    throw new StartError('LOG_FOREIGN', `stream ${stream} is not the log of ${service}: check --nats-stream`)
  if (log.cluster !== cluster)
    throw new StartError(
      'CLUSTER_MISMATCH',
      `stream ${stream} belongs to the cluster "${log.cluster}", not to "${cluster}" (--cluster-name)`,
    )
  if (!log.hasQuorum)
    throw new StartError(
      'LOG_UNREACHABLE',
      `a majority of the servers of stream ${stream} is unreachable: start them, or delete the stream if they are lost`,
    )
}

const describeStream = (stream: string, { created, messages, firstSeq, lastSeq, ancestor }: LogDescription) =>
  `stream ${stream}, created ${created}, with ${messages} messages` +
  (messages > 0 ? ` (sequences ${firstSeq} to ${lastSeq})` : '') +
  (ancestor ? `, which continues the log of ${ancestor.epoch} after sequence ${ancestor.seq}` : '')

async function continueLog(
  options: RescueOptions,
  log: LogDescription | undefined,
  plan: RescuePlan,
  folder: string,
): Promise<void> {
  const { stream, onStep, confirm } = options
  const { source, action } = plan
  onStep(`reading the state of ${source.name}`)
  const snapshot = await source.prepare(folder)
  try {
    const ancestor = action === 'complete' ? plan.ancestor : checkPosition(source, snapshot)
    if (action === 'replace') {
      const description = describeStream(stream, log!)
      onStep(`stream ${stream} must be replaced: ${plan.reason}`)
      if (!(await confirm(`Delete ${description}?`)))
        throw new StartError('LOG_EXISTS', `nothing was changed: stream ${stream} exists`)
    }
    const { epoch } = await createSuccessor({
      ...options,
      ancestor,
      snapshot: () => snapshot.read(),
      replace: action === 'replace',
    })
    onStep(`the log continues after sequence ${ancestor.seq}, as the log of ${epoch}`)
  } finally {
    await snapshot.close()
  }
}

/** Returns the position of a snapshot. @throws StartError `POSITIONS_DIVERGED` if its node has joined another log */
function checkPosition({ name, position }: RescueSource, snapshot: PreparedSnapshot) {
  if (snapshot.position.epoch === position.epoch) return snapshot.position
  throw new StartError('POSITIONS_DIVERGED', `${name} has joined another log meanwhile: repeat the command`)
}
