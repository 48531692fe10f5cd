import { doorTable as kvDoor } from './kv-door.ts'
import { scenarios as kv, trialScenarios } from './kv.ts'
import { bulkTable } from './prices-bulk.ts'
import { cachesTable } from './prices-caches.ts'
import { doorTable as pricesDoor } from './prices-door.ts'
import { limitsTable } from './prices-limits.ts'
import { lookupScenarios } from './prices-lookups.ts'
import { memoryTable, twoMillionTable } from './prices-memory.ts'
import { percentileTable } from './prices-percentiles.ts'
import { storageTable } from './prices-storage.ts'
import { scenarios as prices } from './prices.ts'
import type { AnyScenario } from './scenario.ts'
import { fleetScenarios } from './sse.ts'
import { connectionsTable, doorTable as statsDoor } from './stats-door.ts'
import { scenarios as stats } from './stats.ts'

/** Every table that can be measured, in the order of the report. */
export const scenarios: readonly AnyScenario[] = [
  ...stats,
  statsDoor,
  connectionsTable,
  ...kv,
  kvDoor,
  ...trialScenarios,
  ...fleetScenarios,
  ...prices,
  pricesDoor,
  ...lookupScenarios,
  percentileTable,
  bulkTable,
  storageTable,
  memoryTable,
  limitsTable,
  twoMillionTable,
  cachesTable,
]
