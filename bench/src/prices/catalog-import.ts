import { createPricesClient } from '@influencer-stats/prices/client'
import { Readable } from 'node:stream'
import { createProcessRunner } from '../load/common/process-runner.ts'
import { generatePrices, getCatalogSize, type CatalogPlan } from '../load/requests/catalogs.ts'

/** An import of a whole catalog, which replaces the catalog of a service. */
export interface ImportPlan {
  readonly url: string
  readonly catalog: CatalogPlan
}

/** Maximum duration of a run (s), which is enough for 2 million prices. */
const MAX_RUN_S = 600
const CHUNK_LENGTH = 262_144

/**
 * Imports a catalog.
 * @returns number of prices, and the seconds until they are acknowledged, including the time to generate the catalog in
 *   this process
 */
export async function importCatalog({ url, catalog }: ImportPlan) {
  const began = performance.now()
  const { imported, prices } = await createPricesClient(url).import(Readable.from(generateChunks(catalog)), {
    replace: true,
  })
  const seconds = (performance.now() - began) / 1000
  if (imported !== getCatalogSize(catalog) || prices !== imported)
    throw new Error(`${imported} prices were imported, and the service has ${prices}`)
  return { prices, seconds }
}

/** Imports a catalog in a new process. @throws Error if the service did not import all prices */
export const runImport = createProcessRunner(import.meta.url, importCatalog, MAX_RUN_S)

function* generateChunks(catalog: CatalogPlan): Generator<Buffer> {
  let text = ''
  for (const price of generatePrices(catalog)) {
    text += `${JSON.stringify(price)}\n`
    if (text.length < CHUNK_LENGTH) continue
    yield Buffer.from(text)
    text = ''
  }
  if (text !== '') yield Buffer.from(text)
}
