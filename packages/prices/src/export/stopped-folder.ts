import { findStoppedFolder, SILENT_LOG } from '@influencer-stats/runtime/stopped-folder'
import { exportPrices } from '../catalog/catalog-export.ts'
import { PriceCatalog } from '../catalog/price-catalog.ts'
import type { PriceFormat } from '../messages.ts'
import { openPricesLevel } from '../storage/database.ts'

/**
 * Yields the prices of a stopped service or node.
 * @param from data folder of prices, or of all services
 * @throws StartError `NO_DATA`, `DATA_LOCKED` if the service runs, and other errors of a start
 */
export async function* readStoppedFolder(from: string, format: PriceFormat): AsyncGenerator<Uint8Array> {
  const { folder, isReplica } = findStoppedFolder('prices', from)
  const level = await openPricesLevel(folder, { log: SILENT_LOG, isReplica })
  try {
    const catalog = new PriceCatalog({
      level,
      indexes: new Map(),
      log: SILENT_LOG,
      isReplica,
      hasSharedBlocks: false,
      onChange: async () => undefined,
      onReplace: async () => undefined,
    })
    await catalog.load()
    const { close, ...frozen } = await catalog.freeze()
    try {
      yield* exportPrices(frozen, { format })
    } finally {
      await close()
    }
  } finally {
    await level.close()
  }
}
