import { openLocalLog } from '@influencer-stats/log/local-log'
import type { ServiceMain } from '@influencer-stats/runtime/service'
import { openSequencer } from './broker/sequencer.ts'
import type { SseMainMessage } from './messages.ts'
import { openMain, type SseMainContext } from './open-main.ts'
import { getHistoryOptions } from './part-options.ts'
import { parts } from './parts.ts'

/** Opens the main thread of a standalone service. With the broker `local`, it orders no values. */
export async function openStandalone(context: SseMainContext): Promise<ServiceMain<SseMainMessage>> {
  const { config, log } = context
  if (config.broker === 'local') return openMain(context, undefined)
  return openMain(context, async (options) => {
    const history = await parts.history[config.history](getHistoryOptions(config, log))
    return openSequencer({
      ...options,
      isPaced: false,
      createHistory: () => history,
      openLog: (stateMachine) => openLocalLog({ stateMachine }),
    })
  })
}
