import { openLocalLog } from '@influencer-stats/log/local-log'
import type { ServiceMain } from '@influencer-stats/runtime/service'
import { createSampleDraft } from './sample/sample-draft.ts'
import { openPricesLevel } from './storage/database.ts'
import { loadIndexes } from './search/load-indexes.ts'
import type { PricesMainMessage } from './messages.ts'
import type { PriceCatalog } from './catalog/price-catalog.ts'
import { PricesStateMachine } from './catalog/prices-state-machine.ts'
import { createPricesMain, openCatalog, type PricesMainContext } from './prices-main.ts'

/**
 * Opens the parts of a standalone service that exist once per process.
 * @throws StartError
 */
export async function openPrices(context: PricesMainContext): Promise<ServiceMain<PricesMainMessage>> {
  const { config, log } = context
  const indexes = await loadIndexes(config)
  let catalog: PriceCatalog | undefined
  const level = await openPricesLevel(config.data, { log, onRecovered: () => catalog?.reload() })
  try {
    catalog = await openCatalog(context, indexes, level, false, config.sample === 'yes' ? createSampleDraft : undefined)
    const stateMachine = await PricesStateMachine.open(catalog, level, false)
    const journal = openLocalLog({ stateMachine })
    const main = createPricesMain(context, { indexes, level, catalog, stateMachine, journal })
    return { ...main, backupSource: level }
  } catch (error) {
    await level.close()
    throw error
  }
}
