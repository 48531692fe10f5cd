import { randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Connection, ConnectionLost } from './connection.ts'
import { Difference } from './difference.ts'
import { EtagHistory } from './history.ts'
import { OperationLog } from './operation-log.ts'
import { showKey } from './operations.ts'
import { codeOf } from './outcomes.ts'
import { parseEntries } from './range-reply.ts'
import { createRandom, type Random } from './random.ts'
import { backUp, copyFolder, restore, startService, type Configuration, type RunningService } from './service.ts'
import { SharedKeys, SHARED_END, SHARED_PREFIX } from './shared-keys.ts'
import { SpaceClient } from './space-client.ts'
import { Space, type Expiry } from './space.ts'
import { takeStep, verify, verifyShrinking } from './steps.ts'
import { checkChanges, overdueKeys } from './watch-check.ts'
import { WatchStream } from './watch-stream.ts'

/** What happens to the process and its folder between two phases of load. */
export type Lifecycle = 'restart' | 'kill' | 'restore' | 'copy'
export const LIFECYCLES: readonly Lifecycle[] = ['restart', 'kill', 'restore', 'copy']

export interface EpisodeOptions {
  readonly seed: string
  readonly configuration: Configuration
  readonly lifecycles: readonly Lifecycle[]
  /** Steps of each client in a phase. */
  readonly steps: number
}

export interface EpisodeResult {
  readonly operations: number
  readonly watched: number
  readonly drops: number
}

// Keys of 1- to 4-byte characters; the first key behind those of a client follows from its last character.
const SPACES = [
  ['a', 'b'],
  ['é', 'ê'],
  ['日', '旦'],
  ['😀', '😁'],
] as const

/** A stream shows within this time that values have expired (ms): far more than a second, because the machine is busy. */
const EXPIRY_MS = 60_000

const END_KEY = '\u007fend'

/** One service from its first start on an empty folder to its end. @throws Difference */
export class Episode {
  readonly #options: EpisodeOptions
  readonly #random: Random
  readonly #root = mkdtempSync(join(tmpdir(), 'kv-model-'))
  readonly #history = new EtagHistory()
  readonly #log = new OperationLog()
  readonly #shared = new SharedKeys(this.#history)
  readonly #clients: readonly SpaceClient[]
  #folder = join(this.#root, 'data-0')
  #folders = 0
  #service: RunningService | undefined
  #lastId: string | undefined
  #phases = 0
  readonly #firstTimedPhase: number
  #watched = 0
  #drops = 0

  constructor(options: EpisodeOptions) {
    this.#options = options
    this.#random = createRandom(options.seed)
    this.#firstTimedPhase = this.#random.pick([0, 0, 1, 2, Infinity])
    this.#clients = SPACES.map(
      ([prefix, end], i) =>
        new SpaceClient({
          name: `client-${i}`,
          prefix,
          end,
          random: this.#random.fork(`client-${i}`),
          history: this.#history,
          log: this.#log,
        }),
    )
  }

  async run(): Promise<EpisodeResult> {
    try {
      await this.#start()
      for (const lifecycle of this.#options.lifecycles) await this.#pass(lifecycle)
      await this.#phase()
      await this.#stop()
      rmSync(this.#root, { recursive: true, force: true })
      const operations = this.#clients.reduce((sum, client) => sum + client.operations, 0)
      return { operations, watched: this.#watched, drops: this.#drops }
    } finally {
      for (const client of this.#clients) client.disconnect()
      await this.#service?.kill()
    }
  }

  get #isPersistent(): boolean {
    return this.#options.configuration.store === 'level'
  }

  async #pass(lifecycle: Lifecycle): Promise<void> {
    if (lifecycle === 'restart') {
      await this.#phase()
      await this.#stop()
      await this.#start()
    } else if (lifecycle === 'kill' || !this.#isPersistent) {
      await this.#phase({ kills: true })
      await this.#start()
    } else if (lifecycle === 'restore') await this.#restore()
    else await this.#copy()
  }

  /** A backup is made under load, and the service goes on with it in a new folder, after more changes. */
  async #restore(): Promise<void> {
    const files = join(this.#root, `backup-${this.#folders}`)
    const isUnderLoad = this.#random.percent(60)
    for (const client of this.#clients) client.noteSnapshots()
    const { port } = this.#service!
    if (isUnderLoad) await this.#phase({ meanwhile: () => backUp(port, files) })
    else {
      await this.#phase()
      for (const client of this.#clients) {
        client.takeSnapshots()
        client.noteSnapshots()
      }
      await backUp(port, files)
    }
    const snapshots = this.#clients.map((client) => client.takeSnapshots())
    await this.#phase()
    await this.#stop()
    this.#newFolder()
    await restore(files, this.#folder)
    for (const [i, client] of this.#clients.entries()) client.restore(snapshots[i]!)
    await this.#start({ isShared: false })
  }

  /** The service runs on a copy of its folder, then on the original again. */
  async #copy(): Promise<void> {
    await this.#phase()
    await this.#stop()
    const original = this.#folder
    const states = this.#clients.map((client) => client.spaces)
    this.#newFolder()
    copyFolder(original, this.#folder)
    await this.#start()
    await this.#phase()
    await this.#stop()
    if (this.#random.percent(50)) this.#folder = original
    if (this.#folder === original) for (const [i, client] of this.#clients.entries()) client.restore(states[i]!)
    await this.#start({ isShared: this.#folder !== original })
  }

  #newFolder(): void {
    this.#folder = join(this.#root, `data-${++this.#folders}`)
  }

  /** @param isShared whether the keys that clients share are as the test left them */
  async #start({ isShared = true } = {}): Promise<void> {
    this.#service = await startService(this.#options.configuration, this.#folder)
    const { port } = this.#service
    for (const client of this.#clients) client.connect(port)
    if (!this.#isPersistent) for (const client of this.#clients) client.restore([Space.EMPTY])
    await this.#checkOldPlace(port)
    await this.#verify()
    await Promise.all(this.#clients.map(verifyShrinking))
    if (isShared && this.#isPersistent) await this.#shared.settle(this.#clients[0]!)
    else await this.#shared.restart(this.#clients[0]!)
  }

  async #stop(): Promise<void> {
    for (const client of this.#clients) client.disconnect()
    const service = this.#service!
    this.#service = undefined
    await service.stop()
  }

  /** A place of a process that has ended is one that is not kept. */
  async #checkOldPlace(port: number): Promise<void> {
    if (this.#lastId === undefined) return
    const connection = new Connection(port)
    const reply = await connection.send({ method: 'GET', target: `/v0/watch?start=%00&after=${this.#lastId}` })
    connection.close()
    if (reply.status !== 410 || codeOf(reply.body) !== 'SEQUENCE_GONE')
      throw new Difference(
        `a stream after ${this.#lastId}, from before the start: status ${reply.status}, expected 410`,
      )
  }

  /** Clients do random steps at the same time, then all of it is compared. */
  async #phase({ kills = false, meanwhile }: { kills?: boolean; meanwhile?: () => Promise<void> } = {}): Promise<void> {
    const { port } = this.#service!
    const since = performance.now()
    const watch = new WatchStream(port, this.#random.fork(`watch ${since}`), this.#random.pick([0, 5, 30]))
    await watch.opened
    const openedAt = Date.now()
    const before = this.#clients.map(({ spaces }) => expiriesOf(spaces))
    const isTimed = this.#phases++ >= this.#firstTimedPhase
    for (const client of this.#clients) client.beginPhase(isTimed)
    const { steps } = this.#options
    let left = kills ? this.#random.between(1, steps * this.#clients.length) : Infinity
    let killed: Promise<void> | undefined
    const other = meanwhile?.()
    other?.catch(() => {})
    await Promise.all(
      this.#clients.map(async (client) => {
        try {
          for (let step = 0; step < steps; step++) {
            if (--left === 0) killed = this.#kill()
            await (client.random.percent(25) ? this.#shared.step(client) : takeStep(client))
          }
        } catch (error) {
          if (!killed || !(error instanceof ConnectionLost)) throw error
        }
      }),
    )
    await other
    await killed
    if (killed) for (const client of this.#clients) client.cut()
    else await this.#settle(watch, before, openedAt)
    watch.close()
    this.#lastId = watch.lastId
    if (!killed && watch.fault) throw watch.fault
    this.#checkWatch(watch, before, since, killed !== undefined)
    this.#watched += watch.changes.length
    this.#drops += watch.drops
  }

  #kill(): Promise<void> {
    const service = this.#service!
    this.#service = undefined
    return service.kill()
  }

  async #settle(
    watch: WatchStream,
    before: readonly ReadonlyMap<string, Expiry | undefined>[],
    openedAt: number,
  ): Promise<void> {
    await this.#verify()
    await this.#shared.settle(this.#clients[0]!)
    const value = String(randomInt(2 ** 40))
    const [first] = this.#clients
    const end = { method: 'PUT', headers: { 'content-type': 'text/plain' }, body: Buffer.from(value) }
    const { status } = await first!
      .connection()
      .send({ ...end, target: `/v0/entity?id=${encodeURIComponent(END_KEY)}` })
    if (status !== 201) throw new Difference(`PUT of the last key: status ${status}`)
    await watch.until(() =>
      watch.changes.some((change) => change.key === END_KEY && change.value?.toString() === value),
    )
    const time = Date.now()
    const known = new Map(
      before.flatMap((expiries) => [...expiries].filter(([, expiry]) => expiry && expiry.earliest > openedAt)),
    )
    const overdue = () => overdueKeys(watch.changes, known, time)
    const hasShown = await Promise.race([
      watch.until(() => overdue().length === 0).then(() => true),
      delay(EXPIRY_MS, false, { ref: false }),
    ])
    if (!hasShown) throw new Difference(`the stream does not show that ${overdue().map(showKey).join(', ')} expired`)
  }

  #checkWatch(
    watch: WatchStream,
    before: readonly ReadonlyMap<string, Expiry | undefined>[],
    since: number,
    isCut: boolean,
  ): void {
    for (const [i, client] of this.#clients.entries()) {
      const own = watch.changes.filter(({ key }) => key.startsWith(client.prefix))
      const { changes, maybeChanged } = client
      checkChanges(own, { changes, unanswered: maybeChanged, isCut, before: before[i]! })
    }
    const shared = watch.changes.filter(({ key }) => key.startsWith(SHARED_PREFIX))
    this.#shared.checkChanges(shared, since, isCut)
    const isKnown = ({ key }: { key: string }) =>
      key === END_KEY || [SHARED_PREFIX, ...SPACES.map(([prefix]) => prefix)].some((prefix) => key.startsWith(prefix))
    const stray = watch.changes.find((change) => !isKnown(change))
    if (stray) throw new Difference(`the stream shows a key that nobody wrote: ${JSON.stringify(stray.key)}`)
  }

  async #verify(): Promise<void> {
    await Promise.all(this.#clients.map(verify))
    const [first] = this.#clients
    const all = { method: 'GET', headers: { accept: 'application/x-ndjson' } }
    const reply = await first!.connection().send({ ...all, target: '/v0/entities?start=%00' })
    const isIn = (key: string, start: string, end: string) => {
      const bytes = Buffer.from(key)
      return Buffer.compare(bytes, Buffer.from(start)) >= 0 && Buffer.compare(bytes, Buffer.from(end)) < 0
    }
    const spaces = [...SPACES, [SHARED_PREFIX, SHARED_END] as const]
    const stray = parseEntries(reply.body).find(
      ({ key }) => key !== END_KEY && !spaces.some(([start, end]) => isIn(key, start, end)),
    )
    if (stray) throw new Difference(`a key that nobody wrote: ${JSON.stringify(stray.key)}`)
  }
}

function expiriesOf(spaces: readonly Space[]): ReadonlyMap<string, Expiry | undefined> {
  const expiries = new Map<string, Expiry | undefined>()
  for (const { entries } of spaces) for (const [key, { expiry }] of entries) expiries.set(key, expiry)
  return expiries
}
