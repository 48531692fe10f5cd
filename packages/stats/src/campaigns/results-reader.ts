import {
  diffSums,
  findSums,
  toResultsEnd,
  type KnownSums,
  type RangeGrowth,
  type ResultsEnd,
} from '../core/history/results.ts'
import type { StateReader } from '../state/stats-state.ts'

/** A range of time (ms since the epoch). Its end is exclusive. */
export interface ResultsRange {
  /** Absent: since the first known sums. */
  readonly from?: number | undefined
  /** Absent: until now. */
  readonly to?: number | undefined
}

/** Results within a range. */
export interface RangeResults {
  readonly from: number
  readonly to: number
  readonly state: 'upcoming' | 'running' | 'ended'
  /** Absent if no sums are known within the range. */
  readonly growth?: RangeGrowth
  readonly start?: ResultsEnd
  readonly end?: ResultsEnd
}

type ResultsSource = Pick<StateReader, 'getHistory' | 'getPointAt' | 'getSnapshot'>

/** Reads the results of a collection within a range. */
export async function readResults(
  state: ResultsSource,
  id: string,
  range: ResultsRange,
  now: number,
): Promise<RangeResults> {
  const to = range.to ?? now
  const from = range.from ?? (await state.getHistory(id, 0, Math.min(to, now), 1))[0]?.at ?? to
  if (from > now) return { from, to, state: 'upcoming' }
  const scope = { from, to, state: range.to === undefined || now < to ? 'running' : 'ended' } as const
  const [start, end] = await Promise.all([readSums(state, id, from, now), readSums(state, id, Math.min(to, now), now)])
  const growth = start && end && diffSums(start, end)
  return growth ? { ...scope, growth, start: toResultsEnd(start), end: toResultsEnd(end) } : scope
}

async function readSums(state: ResultsSource, id: string, at: number, now: number): Promise<KnownSums | undefined> {
  const before = await state.getPointAt(id, at)
  const [next] = await state.getHistory(id, at + 1, now, 1)
  const last = next ? undefined : await state.getSnapshot(id)
  // The snapshot names the point of its sums: they are confirmed until the request for the oldest of its numbers.
  return findSums(at, { before, next }, last?.point?.at === before?.at ? last?.asOf : undefined)
}
