import type { Contents, WriteUnit } from '../write-ledger.ts'

/** A service under test, reduced to keys with numbers, which must not be lost. */
export interface TestedService {
  /** Name of the service. */
  readonly service: string
  readonly settings: Readonly<Record<string, string | number>>
  /** Number of concurrent writers. */
  readonly writers: number
  /** True if writers also delete units of one key. */
  readonly deletes: boolean
  /** Returns the units that only this writer changes. */
  units(writer: number): readonly WriteUnit[]
  /** Connects to the running service. */
  connect(url: string): ServiceSession
}

/** A connection to a service under test. */
export interface ServiceSession {
  /** Changes the keys of a unit together. Resolves after the acknowledgement. */
  write(contents: Contents, durable: boolean): Promise<unknown>
  /**
   * Reads the keys of all units.
   * @param at time of the crash (s), if there was a crash
   * @throws Error if two ways to read give different results, or if the service breaks another guarantee
   */
  read(at?: number): Promise<Contents>
  close(): Promise<void>
}

/** Returns the units of each writer. Every call returns the same objects, because a ledger uses them as keys. */
export function getUnits(subject: TestedService): readonly (readonly WriteUnit[])[] {
  let units = known.get(subject)
  if (!units) known.set(subject, (units = Array.from({ length: subject.writers }, (_, i) => subject.units(i))))
  return units
}
const known = new WeakMap<TestedService, readonly (readonly WriteUnit[])[]>()
