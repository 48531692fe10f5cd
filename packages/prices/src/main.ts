import { StartError } from '@influencer-stats/runtime/errors'
import { openLevel } from '@influencer-stats/runtime/level'
import type { OpenContext, Opened } from '@influencer-stats/runtime/service'
import type { ValuesOf } from '@influencer-stats/runtime/settings'
import { Gauge } from '@influencer-stats/runtime/prom-client'
import { CatalogOwner } from './owner/catalog-owner.ts'
import { FORMAT } from './owner/generations.ts'
import { upgrade } from './owner/upgrade.ts'
import { samplePrices, sampleSize } from './core/sample.ts'
import { Imports } from './imports.ts'
import type { IndexKind } from './index/index.ts'
import type { ToMain, ToThread } from './messages.ts'
import { namesOf, parts, SHARED_CATALOGS } from './parts.ts'
import type { settings } from './settings.ts'

/** The prices service's own settings. */
export type PricesConfig = ValuesOf<typeof settings>

// Small, because the catalog is what is cached; large writes are batches anyway.
const LEVEL = { cacheSize: 1_048_576, writeBufferSize: 2_097_152 }

/**
 * How long a call about the catalog may take (ms): whatever it is, it may have to wait for an import that makes the
 * catalog anew. One of two million prices takes 40 s where two processors do nothing else.
 */
export const CATALOG_TIMEOUT = 600_000

export const openPricesLevel = (folder: string) => openLevel(folder, { service: 'prices', format: FORMAT, ...LEVEL })

/** The indexes that a configuration names. @throws StartError `UNKNOWN_INDEX` */
export async function loadIndexes({ indexes }: Pick<PricesConfig, 'indexes'>): Promise<Map<string, IndexKind>> {
  const known: readonly string[] = namesOf('index')
  const unknown = indexes.filter((name) => !known.includes(name))
  if (unknown.length > 0 || indexes.length === 0) {
    throw new StartError('UNKNOWN_INDEX', `prices: indexes can be ${known.join(', ')}, not "${unknown.join(', ')}"`)
  }
  const kinds = new Map<string, IndexKind>()
  for (const name of new Set(indexes)) kinds.set(name, await parts.index[name as keyof typeof parts.index]())
  return kinds
}

type Context = OpenContext<PricesConfig, ToThread>

/** Opens what exists once per process: the catalog, which main alone changes. */
export async function openPrices({ config, registry, broadcast }: Context): Promise<Opened<ToMain>> {
  const indexes = await loadIndexes(config)
  const db = await openPricesLevel(config.data)
  let owner: CatalogOwner
  try {
    await upgrade(db)
    owner = await CatalogOwner.open(
      {
        db,
        indexes,
        holdsBlocks: SHARED_CATALOGS.includes(config.catalog),
        onChange: (change) => broadcast('change', change),
        onReplace: (state) => broadcast.within(CATALOG_TIMEOUT)('replace', state),
      },
      config.sample === 'yes' ? { size: sampleSize(), prices: samplePrices() } : undefined,
    )
  } catch (error) {
    await db.close()
    throw error
  }
  const imports = new Imports(owner, config.maxPrices)
  const gauge: Gauge = new Gauge({
    name: 'prices_count',
    help: 'Prices in the catalog.',
    registers: [registry],
    collect: () => gauge.set(owner.size),
  })

  return {
    shared: () => owner.state(),
    handlers: {
      get: (id) => owner.get(id),
      put: (price) => owner.put(price),
      remove: (id) => owner.remove(id),
      importStart: (replace) => imports.start(replace),
      importChunk: (token, bytes) => imports.chunk(token, bytes),
      importEnd: (token) => imports.end(token),
      importAbort: (token) => imports.abort(token),
    },
    async close() {
      imports.close()
      await owner.settled()
      await db.close()
    },
  }
}
