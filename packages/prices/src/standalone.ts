import { openLocalLog } from '@influencer-stats/log/local-log'
import type { ServiceMain } from '@influencer-stats/runtime/service'
import type { PricesMainMessage } from './messages.ts'
import { openMain, type PricesMainContext } from './prices-main.ts'
import { createSampleDraft } from './sample/sample-draft.ts'

/**
 * Opens the parts of a standalone service that exist once per process.
 * @throws StartError
 */
export const openPrices = (context: PricesMainContext): Promise<ServiceMain<PricesMainMessage>> =>
  openMain(context, {
    folder: context.config.data,
    isReplica: false,
    createFirst: context.config.sample === 'yes' ? createSampleDraft : undefined,
    openLog: (stateMachine) => openLocalLog({ stateMachine }),
  })
