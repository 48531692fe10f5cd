import { runInOwnProcess } from '../load/common/own-process.ts'
import type { CatalogPlan } from './catalogs.ts'

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
export const runImport = (plan: ImportPlan): Promise<ImportResult> => runInOwnProcess('price-import', plan, LIMIT)
