import type { Contents, WriteUnit } from '../write-ledger.ts'

/** A service, seen as keys with numbers under them that must not be lost. */
export interface TestedService {
  readonly service: string
  readonly settings: Readonly<Record<string, string | number>>
  /** How many write at a time. */
  readonly writers: number
  /** Whether single keys are deleted, too. */
  readonly deletes: boolean
  /** What that writer changes; it is nobody else's. */
  units(writer: number): readonly WriteUnit[]
  /** Talks to a running service. */
  connect(url: string): ServiceSession
}

export interface ServiceSession {
  /** Changes keys, all or none. Resolves once it is acknowledged. */
  write(contents: Contents, durable: boolean): Promise<unknown>
  /**
   * What is there, of all units.
   * @param at the moment of the crash (seconds), if there was one
   * @throws Error where the service contradicts itself or breaks another promise
   */
  read(at?: number): Promise<Contents>
  close(): Promise<void>
}

/** By writer. The same objects at every call: a ledger knows them. */
export function getUnits(subject: TestedService): readonly (readonly WriteUnit[])[] {
  let units = known.get(subject)
  if (!units) known.set(subject, (units = Array.from({ length: subject.writers }, (_, i) => subject.units(i))))
  return units
}
const known = new WeakMap<TestedService, readonly (readonly WriteUnit[])[]>()
