import fc from 'fast-check'
import { ServiceError } from '@influencer-stats/runtime/service-error'
import { expect } from 'vitest'
import { createKvClient, type ConditionalOptions, type ReadOptions } from '../../src/client.ts'
import { isLinearizable, type RegisterCondition, type RegisterOperation, type RegisterValue } from './linearizable.ts'

/** One step of a client. `abandon` is a put whose client disconnects at some moment. */
interface HistoryStep {
  readonly kind: 'get' | 'put' | 'create' | 'replace' | 'swap' | 'delete' | 'deleteSame' | 'batch' | 'abandon'
  readonly key: string
  /** Turns of the event loop before the step, and before a client disconnects. */
  readonly turns: number
  readonly durable: boolean
}

const CLIENT_COUNT = 8
const KEYS = ['a', "a'", 'b']

const step: fc.Arbitrary<HistoryStep> = fc.record({
  kind: fc.constantFrom(
    'get',
    'get',
    'get',
    'put',
    'put',
    'create',
    'replace',
    'swap',
    'swap',
    'delete',
    'deleteSame',
    'batch',
    'abandon',
  ),
  key: fc.constantFrom(...KEYS),
  turns: fc.nat(3),
  durable: fc.boolean(),
})
/** Steps of several clients on a few keys. */
const schedules = fc.array(fc.array(step, { minLength: 1, maxLength: 15, size: 'max' }), {
  minLength: CLIENT_COUNT,
  maxLength: CLIENT_COUNT,
})

/** Operations of all clients by key. Their times come from one clock. */
type KeyHistories = Map<string, RegisterOperation[]>

let clock = 0

async function waitTurns(turns: number): Promise<void> {
  for (let i = 0; i < turns; i++) await new Promise((resolve) => setImmediate(resolve))
}

/** Runs the steps in order on a separate connection, and records their results. */
async function recordHistories(
  url: string,
  name: string,
  steps: readonly HistoryStep[],
  histories: KeyHistories,
  reads: ReadOptions = {},
): Promise<void> {
  const client = createKvClient(url, { connections: 1 })
  /** The last known value and tag of a key, for conditions. */
  const known = new Map<string, { value: string; etag: string }>()
  let count = 0

  const add = (key: string, operation: RegisterOperation) => {
    if (!histories.has(key)) histories.set(key, [])
    histories.get(key)!.push(operation)
  }

  async function get(key: string): Promise<void> {
    const calledAt = ++clock
    const found = await client.get(key, reads)
    const value = found?.value.toString()
    add(key, { type: 'read', calledAt, returnedAt: ++clock, found: value })
    if (found) known.set(key, { value: value!, etag: found.etag })
  }

  /** @param act resolves with the new value's tag, if it has one */
  async function write(
    keys: readonly string[],
    value: RegisterValue,
    condition: RegisterCondition | undefined,
    act: () => Promise<string | void>,
  ): Promise<void> {
    const calledAt = ++clock
    const outcome = await act().then(
      (etag) => {
        if (etag && value !== undefined) known.set(keys[0]!, { value, etag })
        return 'done' as const
      },
      (error: unknown) => {
        if (error instanceof ServiceError && error.code === 'CONDITION_FAILED') return 'refused' as const
        if ((error as Error).name === 'AbortError') return 'unknown' as const
        throw error
      },
    )
    const returnedAt = ++clock
    for (const key of keys)
      add(key, { type: 'write', calledAt, returnedAt, value, outcome, ...(condition && { condition }) })
  }

  /** Condition on the known value of the key, or on any value: for the checker and for the service. */
  function isSameValue(key: string): [RegisterCondition, ConditionalOptions] {
    const { value, etag } = known.get(key) ?? { value: '*', etag: '*' }
    return [{ match: value }, { ifMatch: etag }]
  }

  async function abandonPut(id: string, value: string, turns: number): Promise<void> {
    const leaving = new AbortController()
    const target = new URL('/v0/entity', url)
    target.searchParams.set('id', id)
    const reply = fetch(target, { method: 'PUT', body: value, signal: leaving.signal })
    void waitTurns(turns).then(() => leaving.abort())
    const { status } = await reply
    if (status !== 201) throw new Error(`status ${status}`)
  }

  async function takeStep({ kind, key, turns, durable }: HistoryStep): Promise<void> {
    const value = `${name}.${++count}`
    if (kind === 'get') return get(key)
    if (kind === 'put') return write([key], value, undefined, () => client.put(key, value, { durable }))
    if (kind === 'delete') return write([key], undefined, undefined, () => client.delete(key, { durable }))
    if (kind === 'abandon') return write([key], value, undefined, () => abandonPut(key, value, turns))
    if (kind === 'batch') {
      const keys = [key, `${key}'`]
      const changes = keys.map((id) => ({ op: 'put' as const, id, value }))
      return write(keys, value, undefined, () => client.batch(changes, { durable }))
    }
    if (kind === 'create') {
      const options = { ifNoneMatch: '*', durable } as const
      return write([key], value, { noneMatch: '*' }, () => client.put(key, value, options))
    }
    const [condition, options]: [RegisterCondition, ConditionalOptions] =
      kind === 'replace' ? [{ match: '*' }, { ifMatch: '*' }] : isSameValue(key)
    if (kind === 'deleteSame') {
      return write([key], undefined, condition, () => client.delete(key, { ...options, durable }))
    }
    return write([key], value, condition, () => client.put(key, value, { ...options, durable }))
  }

  for (const step of steps) {
    await waitTurns(step.turns)
    await takeStep(step)
  }
  await client.close()
}

/**
 * Fails unless clients on a few keys see one order, in runs of random schedules.
 * @param urls addresses of the nodes, which the clients use in turn
 */
export async function expectOneOrder(urls: readonly string[], runs: number, reads: ReadOptions = {}): Promise<void> {
  let run = 0
  let refused = 0
  await fc.assert(
    fc.asyncProperty(schedules, async (clients) => {
      const histories: KeyHistories = new Map()
      // Keys that no earlier run has written.
      const prefix = `${++run}/`
      const recording = clients.map((steps, i) => {
        const own = steps.map((one) => ({ ...one, key: prefix + one.key }))
        return recordHistories(urls[i % urls.length]!, String(i), own, histories, reads)
      })
      await Promise.all(recording)
      expect([...histories].filter(([, history]) => !isLinearizable(history))).toEqual([])
      for (const history of histories.values())
        refused += history.filter((one) => one.type === 'write' && one.outcome === 'refused').length
    }),
    // The timing of threads is not reproducible, so a smaller schedule proves nothing.
    { numRuns: runs, endOnFailure: true },
  )
  // The clients did conflict.
  expect(refused).toBeGreaterThan(runs)
}
