import { createKvClient, type KvClient } from '@influencer-stats/kv/client'
import type { RegisterCondition, RegisterOperation, RegisterValue } from '@influencer-stats/kv/testing/linearizable'
import { ServiceError } from '@influencer-stats/runtime/service-error'
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { SeededRandom } from '../random.ts'

/** Observations of all clients. */
export interface ClientRecord {
  /** Operations by register. */
  readonly histories: Map<string, RegisterOperation[]>
  /** By counter: the numbers of acknowledged increments, and of increments with an unknown outcome. */
  readonly counters: Map<string, { done: number; unknown: number }>
  /** Number of events (results, error codes, retries), by name. One write may count under several. */
  readonly outcomes: Map<string, number>
}

export const createRecord = (): ClientRecord => ({ histories: new Map(), counters: new Map(), outcomes: new Map() })

// Codes that guarantee that the request changed no data.
const UNCHANGED_CODES = new Set([
  'LOG_UNAVAILABLE',
  'WRITE_QUEUE_FULL',
  'FANOUT_BACKLOG_FULL',
  'NOT_READY',
  'OVERLOADED',
  'SEQUENCE_WAIT_TIMEOUT',
])
/** Maximum number of attempts for a write with an unknown outcome. All have the same idempotency key. */
const MAX_TRIES = 4
/** Random pauses between operations are shorter than this (ms). They keep the histories short enough to check. */
const MAX_PAUSE_MS = 20

const now = () => performance.now()

/**
 * Classifies the error of a write.
 * - `refused`: its condition failed.
 * - `not-done`: it certainly changed no data.
 * - `unknown`: it may have changed data.
 */
export function classifyOutcome(error: unknown): 'refused' | 'not-done' | 'unknown' {
  const { code = '', cause } = error as NodeJS.ErrnoException & { cause?: NodeJS.ErrnoException }
  if (error instanceof ServiceError) {
    if (code === 'CONDITION_FAILED') return 'refused'
    return UNCHANGED_CODES.has(code) ? 'not-done' : 'unknown'
  }
  return code === 'ECONNREFUSED' || cause?.code === 'ECONNREFUSED' ? 'not-done' : 'unknown'
}

/**
 * Runs a client until `signal` is aborted. It sends one request at a time, each to a random node.
 * @param name unique name, part of all values that the client writes
 * @param registers returns the keys of the registers in the current phase
 * @param record receives the observations
 */
export async function runClient(
  urls: readonly string[],
  name: string,
  random: SeededRandom,
  registers: () => readonly string[],
  record: ClientRecord,
  signal: AbortSignal,
): Promise<void> {
  const clients = urls.map((url) => createKvClient(url, { connections: 1, timeout: 30_000 }))
  /** Last known value and ETag by register. */
  const known = new Map<string, { value: string; etag: string }>()
  let count = 0

  const tally = (what: string) => void record.outcomes.set(what, (record.outcomes.get(what) ?? 0) + 1)

  function addOperation(key: string, operation: RegisterOperation): void {
    if (!record.histories.has(key)) record.histories.set(key, [])
    record.histories.get(key)!.push(operation)
  }

  /** Sends a write to any node, and retries it while its outcome is unknown. */
  async function retryWhileUnknown<T>(act: (client: KvClient, idempotencyKey: string) => Promise<T>): Promise<T> {
    const idempotencyKey = `${name}.${randomUUID()}`
    let unknownError: unknown
    for (let tries = 1; ; tries++) {
      try {
        return await act(random.one(clients), idempotencyKey)
      } catch (error) {
        const outcomeClass = classifyOutcome(error)
        if (outcomeClass === 'unknown') unknownError ??= error
        // After an attempt with an unknown outcome, a later failed attempt does not prove that no data was changed.
        if (unknownError === undefined || outcomeClass === 'refused') throw error
        tally('retried')
        if (tries === MAX_TRIES) throw unknownError
        await delay(random.below(1_000))
      }
    }
  }

  async function read(client: KvClient, key: string): Promise<void> {
    const calledAt = now()
    try {
      const found = await client.get(key, { linearizable: true })
      const value = found?.value.toString()
      addOperation(key, { type: 'read', calledAt, returnedAt: now(), found: value })
      if (found) known.set(key, { value: value!, etag: found.etag })
      tally('read')
    } catch {
      tally('read failed')
    }
  }

  async function write(
    key: string,
    value: RegisterValue,
    condition: RegisterCondition | undefined,
    act: (client: KvClient, idempotencyKey: string) => Promise<string | void>,
  ): Promise<void> {
    const calledAt = now()
    let outcome: 'done' | 'refused' | 'unknown' = 'done'
    try {
      const etag = await retryWhileUnknown(act)
      if (etag && value !== undefined) known.set(key, { value, etag })
    } catch (error) {
      const outcomeClass = classifyOutcome(error)
      tally(`write ${(error as { code?: string }).code}`)
      if (outcomeClass === 'not-done') return
      outcome = outcomeClass
    }
    tally(`write ${outcome}`)
    addOperation(key, { type: 'write', calledAt, returnedAt: now(), value, outcome, ...(condition && { condition }) })
  }

  async function countUp(client: KvClient, key: string): Promise<void> {
    if (!record.counters.has(key)) record.counters.set(key, { done: 0, unknown: 0 })
    const counter = record.counters.get(key)!
    try {
      const found = await client.get(key)
      const next = String(Number(found?.value ?? 0) + 1)
      const condition = found ? { ifMatch: found.etag } : ({ ifNoneMatch: '*' } as const)
      await retryWhileUnknown((one, idempotencyKey) => one.put(key, next, { ...condition, idempotencyKey }))
      counter.done++
      tally('counted')
    } catch (error) {
      const outcomeClass = classifyOutcome(error)
      if (outcomeClass === 'unknown') counter.unknown++
      tally(`count ${outcomeClass}`)
    }
  }

  while (!signal.aborted) {
    const client = random.one(clients)
    const key = random.one(registers())
    const value = `${name}.${++count}`
    const kind = random.below(10)
    if (kind < 3) await read(client, key)
    else if (kind < 5)
      await write(key, value, undefined, (one, idempotencyKey) => one.put(key, value, { idempotencyKey }))
    else if (kind < 6)
      await write(key, undefined, undefined, (one, idempotencyKey) => one.delete(key, { idempotencyKey }))
    else if (kind < 8) {
      const { value: from, etag } = known.get(key) ?? { value: '*', etag: '*' }
      await write(key, value, { match: from }, (one, idempotencyKey) =>
        one.put(key, value, { ifMatch: etag, idempotencyKey }),
      )
    } else await countUp(client, `counter/${random.below(4)}`)
    // Half of the operations are followed at once by a read on any node. It detects a node that has not applied the
    // write.
    if (random.below(2) === 0) await read(random.one(clients), key)
    else await delay(random.below(MAX_PAUSE_MS))
  }
  await Promise.all(clients.map((client) => client.close()))
}
