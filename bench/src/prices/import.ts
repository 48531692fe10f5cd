import { createPricesClient } from '@influencer-stats/prices/client'
import { runInOwnProcess } from '../load/common/own-process.ts'
import { pricesOf, sizeOf, type CatalogPlan } from './catalogs.ts'

/** A whole catalog to be imported in place of what is there. */
export interface ImportPlan {
  readonly url: string
  readonly catalog: CatalogPlan
  readonly pin?: readonly number[]
}

export interface ImportResult {
  readonly prices: number
  /** Until the service has acknowledged all of it. */
  readonly seconds: number
  readonly bytes: number
}

const LIMIT = 600_000

/** Imports over HTTP. @throws Error when the service did not take it all */
export const runImport = (plan: ImportPlan): Promise<ImportResult> =>
  runInOwnProcess(import.meta.url, 'runImportHere', plan, LIMIT)

const CHUNK = 262_144

/** Runs inside this process: prices are made while they are sent. */
export async function runImportHere({ url, catalog }: ImportPlan): Promise<ImportResult> {
  let bytes = 0
  async function* lines(): AsyncGenerator<Uint8Array> {
    for (const chunk of chunksOf(catalog)) {
      bytes += chunk.length
      yield chunk
    }
  }
  const began = performance.now()
  const { imported, prices } = await createPricesClient(url).import(lines(), { replace: true })
  const seconds = (performance.now() - began) / 1000
  if (imported !== sizeOf(catalog) || prices !== imported)
    throw new Error(`${imported} were imported, ${prices} are there`)
  return { prices, seconds, bytes }
}

function* chunksOf(catalog: CatalogPlan): Generator<Buffer> {
  let text = ''
  for (const price of pricesOf(catalog)) {
    text += `${JSON.stringify(price)}\n`
    if (text.length < CHUNK) continue
    yield Buffer.from(text)
    text = ''
  }
  if (text !== '') yield Buffer.from(text)
}
