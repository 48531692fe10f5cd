import { setTimeout as delay } from 'node:timers/promises'
import { ConnectionLost } from './connection.ts'
import { Difference } from './difference.ts'
import { END_KEY, isTestKey, SHARED_SPACE } from './key-spaces.ts'
import type { OperationLog } from './operation-log.ts'
import { showKey } from './operations.ts'
import type { SeededRandom } from '@influencer-stats/runtime/testing/seeded-random'
import { parseEntries } from './range-reply.ts'
import { compareSharedChanges } from './shared-changes.ts'
import type { SharedKeys } from './shared-keys.ts'
import type { SpaceClient } from './space-client.ts'
import type { ExpiryInterval } from './key-space.ts'
import { runRandomStep } from './client-steps.ts'
import { verify } from './verify.ts'
import { checkChanges, findOverdueKeys } from './watch-check.ts'
import { WatchStream } from './watch-stream.ts'

/** Longest time until a stream shows that values have expired (ms): far more than a second, because the machine is busy. */
const EXPIRY_MS = 60_000

export interface PhaseOptions {
  readonly port: number
  readonly clients: readonly SpaceClient[]
  readonly shared: SharedKeys
  readonly log: OperationLog
  readonly random: SeededRandom
  /** Steps of each client. */
  readonly steps: number
  /** True if values expire and requests have idempotency keys. */
  readonly isTimed: boolean
  /** Kills the service; the phase calls it at a random step. */
  readonly kill?: () => Promise<void>
  /** Additional work during the load. */
  readonly meanwhile?: () => Promise<void>
}

type KeyExpiries = ReadonlyMap<string, ExpiryInterval | undefined>

/** Returns the expiries of a client's values, by key. */
function getExpiries({ spaces }: SpaceClient): KeyExpiries {
  return new Map(spaces.flatMap(({ entries }) => Array.from(entries, ([key, { expiry }]) => [key, expiry] as const)))
}

/**
 * Phase of load: clients run random steps concurrently while a stream reads all changes. Then the phase compares the
 * results.
 */
export class ModelPhase {
  readonly #options: PhaseOptions
  readonly #watch: WatchStream
  readonly #begunAt = performance.now()

  constructor(options: PhaseOptions) {
    const { port, random } = options
    this.#options = options
    this.#watch = new WatchStream(port, random.fork('watch'), random.pick([0, 5, 30]))
  }

  /** @returns the stream, which has ended. @throws Difference */
  async run(): Promise<WatchStream> {
    const { clients, isTimed, meanwhile } = this.#options
    const watch = this.#watch
    try {
      await watch.opened
      const openedAt = Date.now()
      const before = clients.map(getExpiries)
      for (const client of clients) client.beginPhase(isTimed)
      const [isKilled] = await Promise.all([this.#load(), meanwhile?.()])
      if (isKilled) for (const client of clients) client.cut()
      else await this.#waitForChanges(before, openedAt)
      if (!isKilled && watch.fault) throw watch.fault
      this.#compareWatch(before, isKilled)
      return watch
    } finally {
      watch.close()
    }
  }

  /** @returns true if the service was killed */
  async #load(): Promise<boolean> {
    const { clients, shared, steps, random, kill } = this.#options
    let remaining = kill ? random.between(1, steps * clients.length) : Infinity
    let killed: Promise<void> | undefined
    async function load(client: SpaceClient): Promise<void> {
      for (let step = 0; step < steps; step++) {
        if (--remaining === 0) killed = kill!()
        await (client.random.percent(25) ? shared.runStep(client) : runRandomStep(client))
      }
    }
    await Promise.all(
      clients.map((client) =>
        load(client).catch((error: unknown) => {
          if (!killed || !(error instanceof ConnectionLost)) throw error
        }),
      ),
    )
    await killed
    return killed !== undefined
  }

  /** Compares all keys and waits until the stream has shown all changes. */
  async #waitForChanges(before: readonly KeyExpiries[], openedAt: number): Promise<void> {
    const { clients, shared } = this.#options
    await verifyAll(clients)
    await shared.finish(clients[0]!)
    const { changes } = this.#watch
    const value = await putEndKey(clients[0]!)
    await this.#watch.waitUntil(() =>
      changes.some((change) => change.key === END_KEY && change.value?.toString() === value),
    )
    const time = Date.now()
    const known = before
      .flatMap((expiries) => [...expiries])
      .filter(([, expiry]) => expiry && expiry.earliest > openedAt)
    const overdue = () => findOverdueKeys(changes, new Map(known), time)
    const hasShown = await Promise.race([
      this.#watch.waitUntil(() => overdue().length === 0).then(() => true),
      delay(EXPIRY_MS, false, { ref: false }),
    ])
    if (!hasShown) throw new Difference(`the stream does not show that ${overdue().map(showKey).join(', ')} expired`)
  }

  #compareWatch(before: readonly KeyExpiries[], isCut: boolean): void {
    const { clients, shared } = this.#options
    const { changes } = this.#watch
    for (const [i, { prefix, changes: own, possiblyChanged: maybeChanged }] of clients.entries()) {
      const watched = changes.filter(({ key }) => key.startsWith(prefix))
      try {
        checkChanges(watched, { changes: own, unanswered: maybeChanged, isCut, before: before[i]! })
      } catch (error) {
        throw this.#report(error as Error)
      }
    }
    const watched = changes.filter(({ key }) => key.startsWith(SHARED_SPACE[0]))
    compareSharedChanges(watched, shared.listWritesSince(this.#begunAt), isCut)
    const unexpected = changes.find(({ key }) => !isTestKey(key))
    if (unexpected) throw new Difference(`the stream shows a key that nobody wrote: ${showKey(unexpected.key)}`)
  }

  #report(error: Error): Error {
    if (!(error instanceof Difference)) return error
    const { keys } = error
    const shown = this.#watch.changes
      .filter(({ key }) => keys.includes(key))
      .slice(-8)
      .map(
        ({ op, key, sequence, receivedAt, expiresAt }) =>
          `  ${sequence}: ${op} ${showKey(key)}, expires ${expiresAt ?? 'never'}, at ${receivedAt}`,
      )
    const lines = [error.message, '  the stream on these keys:', ...shown, '  last operations on these keys:']
    return new Difference([...lines, this.#options.log.show(keys)].join('\n'), { cause: error })
  }
}

let endValues = 0

async function putEndKey(client: SpaceClient): Promise<string> {
  const value = `end ${++endValues}`
  const target = `/v0/entity?id=${encodeURIComponent(END_KEY)}`
  const headers = { 'content-type': 'text/plain' }
  const { status } = await client.getConnection().send({ method: 'PUT', target, headers, body: Buffer.from(value) })
  if (status !== 201) throw new Difference(`PUT of the last key: status ${status}`)
  return value
}

/** Compares all keys of all clients. @throws Difference */
export async function verifyAll(clients: readonly SpaceClient[]): Promise<void> {
  await Promise.all(clients.map(verify))
  const headers = { accept: 'application/x-ndjson' }
  const reply = await clients[0]!.getConnection().send({ method: 'GET', target: '/v0/entities?start=%00', headers })
  const unexpected = parseEntries(reply.body).find(({ key }) => !isTestKey(key))
  if (unexpected) throw new Difference(`a key that nobody wrote: ${showKey(unexpected.key)}`)
}
