import { clearLevel, closeLevel } from '@influencer-stats/log/level-view'
import type { Log } from '@influencer-stats/log/log'
import { logStateMemory, viewFolder, writeLogState } from '@influencer-stats/log/log-state'
import { openNode } from '@influencer-stats/log/node'
import { StartError } from '@influencer-stats/runtime/errors'
import { toWire } from '@influencer-stats/runtime/problems'
import type { Opened } from '@influencer-stats/runtime/service'
import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import { encodePut, encodeText, PUT, REMOVE } from './core/log-entries.ts'
import { openPricesLevel } from './database.ts'
import { loadIndexes } from './load-indexes.ts'
import { LogImports, PIECE, type Append } from './log-imports.ts'
import { catalogOf, importHandlers, openOwner, type Context } from './main.ts'
import type { Shared, ToMain } from './messages.ts'
import type { CatalogOwner } from './owner/catalog-owner.ts'
import { clearTorn, LogView, resultOf, type Outcome } from './owner/log-view.ts'
import { META } from './page-store.ts'
import { CATALOG_TIMEOUT } from './settings.ts'

/** An import is some times as large as what comes of it: the log is not to hold many of them (bytes). */
const SNAPSHOT_BYTES = 1_073_741_824

const appendTo =
  (log: Log, level: SharedLevel): Append =>
  async (kind, body) => {
    const fault = level.fault()
    if (fault) throw fault
    return resultOf((await log.append<Outcome>(kind, body)).outcome) as never
  }

/**
 * What exists once per process where it is a node of many: the log, and the catalog that this node makes of it.
 * @throws StartError
 */
export async function openPricesNode(context: Context): Promise<Opened<ToMain>> {
  const { config, registry, log, fail } = context
  const indexes = await loadIndexes(config)
  let owner: CatalogOwner
  const level = await openPricesLevel(viewFolder(config.data), {
    log,
    isReplica: true,
    onRecovered: () => owner?.reload(),
  })
  const open = async () => LogView.open((owner = await openOwner(context, indexes, level)), level)
  try {
    await clearTorn(level)
    const view = await open().catch(async (error: unknown) => {
      if (!(error instanceof StartError) || error.code !== 'DATA_DAMAGED') throw error
      log.error(`${error.message}; it is made again from the log`)
      await clearLevel(level, META)
      return open()
    })
    const catalog = catalogOf(context, indexes, owner!)
    const state = logStateMemory()
    const journal = await openNode({
      service: 'prices',
      config,
      registry,
      log,
      fail,
      view,
      snapshotIntervalBytes: SNAPSHOT_BYTES,
      maxBody: Math.max(config.bodyLimit, PIECE) + 65_536,
      // What the log has is made in its turn: behind an import, perhaps.
      viewTimeout: CATALOG_TIMEOUT,
      onState: (now) => writeLogState(state, now),
    })
    const append = appendTo(journal, level)
    const imports = new LogImports({ append, view, most: config.maxPrices, limit: config.importLimit })

    return {
      note: catalog.note,
      shared: (): Shared => ({ state: owner.state(), share: level.share(), logState: state }),
      threadGone: (shared) => void level.gone((shared as Shared).share),
      handlers: {
        ...catalog.handlers,
        ...importHandlers(imports),
        put: (puts) =>
          Promise.all(
            puts.map(({ key, body }) =>
              append<boolean>(PUT, encodePut(key, body, config.maxPrices)).catch((error: unknown) => toWire(error)),
            ),
          ),
        remove: (id) => append<boolean>(REMOVE, encodeText(id.toLowerCase())),
        reached: (sequence) => journal.reached(sequence, config.sequenceWaitTimeout),
        barrier: async (waiting) => void (await journal.barrier(waiting)),
      },
      async close() {
        imports.close()
        await journal.close()
        await catalog.close()
        await closeLevel(view, level, log, 'prices')
      },
    }
  } catch (error) {
    await level.close()
    throw error
  }
}
