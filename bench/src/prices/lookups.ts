import { runInOwnProcess } from '../load/common/own-process.ts'
import type { CatalogPlan } from './catalogs.ts'
import type { IndexName } from './searches.ts'

/** Look-ups in one index, without HTTP. */
export interface LookupsPlan {
  readonly index: IndexName
  readonly catalog: CatalogPlan
  readonly cases: readonly CaseName[]
  readonly rounds: number
  /** Seconds that each case gets in each round, and before the first one; making what is looked up is part of them. */
  readonly duration: number
  /** Whether what the catalog takes is told, too. */
  readonly storage: boolean
  readonly pin?: readonly number[]
}

/** What is looked up, and from what to what. */
export type CaseName =
  /** Random complete searches: from the parsed request to the row, dictionaries included. */
  | 'random'
  /** The same one again and again: of row 10, and so on. */
  | 'row10'
  | 'row42799'
  | 'row428692'
  /** Row 3,824 of an offering's, as at the source. */
  | 'row3824'
  /** Random searches that leave two characteristics free, so that several rows fit. */
  | 'several'
  /** From the bytes of a random complete request to the text of its answer, by JSON.parse, and by the scanner. */
  | 'parsed'
  | 'scanned'

/** Nanoseconds a look-up: the median of the rounds, the fastest and the slowest. */
export interface Nanoseconds {
  readonly median: number
  readonly min: number
  readonly max: number
}

export interface LookupsResult {
  readonly cases: Readonly<Partial<Record<CaseName, Nanoseconds>>>
  readonly storage?: Storage
}

/** What a catalog's parts take (bytes). */
export interface Storage {
  /** Values, specs and currencies: what an answer needs beside its id. */
  readonly answers: number
  /** The ids themselves, and the table that finds a row by its id. */
  readonly ids: number
  readonly idTable: number
  /** What the index has in memory that threads share, and what each thread has of its own, after a collection. */
  readonly shared: number
  readonly own: number
}

/** 2 million rows are made and indexed before. */
const LIMIT = 300_000

/** Looks up in a fresh process, so that no index finds code that another one has warmed or spoilt. @throws Error when a row was wrong */
export const runLookups = (plan: LookupsPlan): Promise<LookupsResult> => runInOwnProcess('price-lookups', plan, LIMIT)
