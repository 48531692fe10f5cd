import type { Contents, WriteUnit } from '../write-ledger.ts'

/** A service as keys with numbers that must not be lost. */
export interface TestedService {
  readonly service: string
  readonly settings: Readonly<Record<string, string | number>>
  /** Number of concurrent writers. */
  readonly writers: number
  /** True if single keys are deleted, too. */
  readonly deletes: boolean
  /** Units that only this writer changes. */
  units(writer: number): readonly WriteUnit[]
  /** Connects to a running service. */
  connect(url: string): ServiceSession
}

export interface ServiceSession {
  /** Changes keys atomically. Resolves after the acknowledgement. */
  write(contents: Contents, durable: boolean): Promise<unknown>
  /**
   * Reads all units.
   * @param at the moment of the crash (seconds), if there was one
   * @throws Error if the service contradicts itself or breaks another guarantee
   */
  read(at?: number): Promise<Contents>
  close(): Promise<void>
}

/** Units by writer. Every call returns the same objects: a ledger uses them as keys. */
export function getUnits(subject: TestedService): readonly (readonly WriteUnit[])[] {
  let units = known.get(subject)
  if (!units) known.set(subject, (units = Array.from({ length: subject.writers }, (_, i) => subject.units(i))))
  return units
}
const known = new WeakMap<TestedService, readonly (readonly WriteUnit[])[]>()
