import { createPricesClient } from '@influencer-stats/prices/client'
import { Readable } from 'node:stream'
import { createProcessRunner } from '../load/common/process-runner.ts'
import { generatePrices, getCatalogSize, type CatalogPlan } from './catalogs.ts'

/** A whole catalog that replaces the present one. */
export interface ImportPlan {
  readonly url: string
  readonly catalog: CatalogPlan
}

/** Longest run (s), for 2 million prices. */
const MAX_RUN_S = 600
const CHUNK_LENGTH = 262_144

/** @returns the prices, and the seconds until all are acknowledged, which include their generation */
export async function importCatalog({ url, catalog }: ImportPlan) {
  const began = performance.now()
  const { imported, prices } = await createPricesClient(url).import(Readable.from(generateChunks(catalog)), {
    replace: true,
  })
  const seconds = (performance.now() - began) / 1000
  if (imported !== getCatalogSize(catalog) || prices !== imported)
    throw new Error(`${imported} were imported, ${prices} are there`)
  return { prices, seconds }
}

/** Imports over HTTP. @throws Error if the service did not import everything */
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
