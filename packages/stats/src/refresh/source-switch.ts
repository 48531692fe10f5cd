import { Outage } from '@influencer-stats/runtime/async/outage'
import { retry } from '@influencer-stats/runtime/async/retry'
import type { StatsLogger } from '../logger/logger.ts'
import { ReplyTable, type ReplyTableOptions } from './reply-table.ts'

/**
 * Loads the stored numbers of another source, and retries until that succeeds. Undefined if the signal aborts before.
 */
export async function loadReplyTable(
  options: ReplyTableOptions & { readonly source: string; readonly logger: StatsLogger },
  signal: AbortSignal,
): Promise<ReplyTable | undefined> {
  const { source, logger } = options
  const outage = new Outage({
    onStart: (fault) => logger.error(`the numbers of ${source} cannot be loaded; this node retries`, fault),
    onEnd: () => logger.info(`loaded the numbers of ${source}`),
  })
  let loaded: ReplyTable | undefined
  await retry(
    async () => {
      const replyTable = new ReplyTable(options)
      await replyTable.load()
      loaded = replyTable
      outage.succeed()
    },
    { signal, onFault: (fault) => outage.fail(fault) },
  )
  return loaded
}
