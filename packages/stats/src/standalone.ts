import { StartError } from '@influencer-stats/runtime/errors'
import { Problem } from '@influencer-stats/runtime/problems'
import type { OpenContext, ServiceMain } from '@influencer-stats/runtime/service'
import type { StatsMainMessage, StatsSharedState, StatsThreadMessage } from './messages.ts'
import { openMain } from './open-main.ts'
import { openState } from './open-parts.ts'
import { QuotaMeter } from './quota/quota-meter.ts'
import { createQuotaPersistence } from './quota/quota-persistence.ts'
import { checkUpstream, getSource, isStateOnMain, type StatsConfig } from './settings.ts'
import type { StatsState } from './state/stats-state.ts'
import { reportQuota } from './stats-metrics.ts'

/**
 * Opens the parts of a standalone service that exist once per process. If a serving thread owns the state, that is only the
 * quota meter.
 */
export async function openStats(
  context: OpenContext<StatsConfig, StatsThreadMessage>,
): Promise<ServiceMain<StatsMainMessage>> {
  const { config, registry, log } = context
  checkUpstream(config)
  if (!isStateOnMain(config)) {
    const memory = QuotaMeter.createMemory()
    reportQuota(new QuotaMeter(memory, config.dailyBudget), registry)
    return {
      shared: (): StatsSharedState => ({ meter: memory, replies: [], reported: [] }),
      handlers: {} as never,
      async close() {},
    }
  }
  const state = await openState(context)
  if (await selectSource(state, config)) log.warn('stats: the data folder has no quota usage; it begins at 0')
  const saveUsage = createQuotaPersistence(
    () => state.putUsage(meter.toUsage()),
    (fault) => {
      // If the database refuses writes, it has logged that already.
      if (!state.level?.getFault()) log.error(fault, 'the quota usage could not be stored')
    },
  )
  const meter: QuotaMeter = new QuotaMeter(QuotaMeter.createMemory(), config.dailyBudget, { save: saveUsage })
  return openMain(context, { state, source: () => getSource(config), meter, saveUsage })
}

/**
 * Records the source of the numbers. Returns true if the database was used before but has no used quota.
 * @throws StartError if the state is unusable for a reason that the user can fix
 */
async function selectSource(state: StatsState, config: StatsConfig): Promise<boolean> {
  const { state: name, kvUri } = config
  try {
    const isUsed = (await state.getSource?.()) !== undefined
    await state.useSource?.(getSource(config))
    return (await state.getUsage()) === undefined && isUsed
  } catch (fault) {
    await state.close()
    if (!(fault instanceof Problem)) throw fault
    const reason = fault.cause instanceof Error ? fault.cause.message : fault.message
    throw new StartError(fault.code, `stats: state ${name} at ${kvUri} cannot be used (${reason})`)
  }
}
