import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ModelConnection } from './connection.ts'
import { Difference } from './difference.ts'
import { EtagHistory } from './history.ts'
import { CLIENT_SPACES } from './key-spaces.ts'
import { OperationLog } from './operation-log.ts'
import { parseCode } from './reply-match.ts'
import { ModelPhase, verifyAll, type PhaseOptions } from './run-phase.ts'
import { createRandom, type SeededRandom } from '@influencer-stats/runtime/testing/seeded-random'
import { backUp, copyFolder, restore, startService, type ModelConfiguration, type ModelService } from './service.ts'
import { SharedKeys } from './shared-keys.ts'
import { SpaceClient } from './space-client.ts'
import { KeySpace } from './key-space.ts'
import { verifyShrinking } from './verify.ts'

/** Change to the process and its folder between two phases of load. */
export type Lifecycle = 'restart' | 'kill' | 'restore' | 'copy'
export const LIFECYCLES: readonly Lifecycle[] = ['restart', 'kill', 'restore', 'copy']

export interface EpisodeOptions {
  readonly seed: string
  readonly configuration: ModelConfiguration
  readonly lifecycles: readonly Lifecycle[]
  /** Steps of each client in a phase. */
  readonly steps: number
}

export interface EpisodeResult {
  readonly operations: number
  readonly watchedCount: number
  readonly drops: number
}

/** Life of one service, from its first start on an empty folder to its end. @throws Difference */
export class Episode {
  readonly #options: EpisodeOptions
  readonly #random: SeededRandom
  readonly #root = mkdtempSync(join(tmpdir(), 'kv-model-'))
  readonly #history = new EtagHistory()
  readonly #log = new OperationLog()
  readonly #shared = new SharedKeys(this.#history)
  readonly #clients: readonly SpaceClient[]
  #folder = join(this.#root, 'data-0')
  #folders = 0
  #service: ModelService | undefined
  #lastId: string | undefined
  #phases = 0
  readonly #firstTimedPhase: number
  #watchedCount = 0
  #drops = 0

  constructor(options: EpisodeOptions) {
    this.#options = options
    this.#random = createRandom(options.seed)
    this.#firstTimedPhase = this.#random.pick([0, 0, 1, 2, Infinity])
    this.#clients = CLIENT_SPACES.map(
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
      for (const lifecycle of this.#options.lifecycles) await this.#passLifecycle(lifecycle)
      await this.#runPhase()
      await this.#stop()
      rmSync(this.#root, { recursive: true, force: true })
      const operations = this.#clients.reduce((sum, client) => sum + client.operations, 0)
      return { operations, watchedCount: this.#watchedCount, drops: this.#drops }
    } finally {
      for (const client of this.#clients) client.disconnect()
      await this.#service?.kill()
    }
  }

  get #isPersistent(): boolean {
    return this.#options.configuration.store === 'level'
  }

  /** Runs one phase of load and compares all of its results. */
  async #runPhase(more: Pick<PhaseOptions, 'kill' | 'meanwhile'> = {}): Promise<void> {
    const number = this.#phases++
    const runPhase = new ModelPhase({
      port: this.#service!.port,
      clients: this.#clients,
      shared: this.#shared,
      log: this.#log,
      random: this.#random.fork(`phase ${number}`),
      steps: this.#options.steps,
      isTimed: number >= this.#firstTimedPhase,
      ...more,
    })
    const { lastId, changes, drops } = await runPhase.run()
    this.#lastId = lastId
    this.#watchedCount += changes.length
    this.#drops += drops
  }

  #kill(): Promise<void> {
    const service = this.#service!
    this.#service = undefined
    return service.kill()
  }

  async #passLifecycle(lifecycle: Lifecycle): Promise<void> {
    if (lifecycle === 'restart') {
      await this.#runPhase()
      await this.#stop()
      await this.#start()
    } else if (lifecycle === 'kill' || !this.#isPersistent) {
      await this.#runPhase({ kill: () => this.#kill() })
      await this.#start()
    } else if (lifecycle === 'restore') await this.#restore()
    else await this.#copy()
  }

  /** Takes a backup, in some cases under load. After more changes, the service restarts with the backup in a new folder. */
  async #restore(): Promise<void> {
    const files = join(this.#root, `backup-${this.#folders}`)
    const isUnderLoad = this.#random.percent(60)
    for (const client of this.#clients) client.noteSnapshots()
    const { port } = this.#service!
    if (isUnderLoad) await this.#runPhase({ meanwhile: () => backUp(port, files) })
    else {
      await this.#runPhase()
      for (const client of this.#clients) {
        client.takeSnapshots()
        client.noteSnapshots()
      }
      await backUp(port, files)
    }
    const snapshots = this.#clients.map((client) => client.takeSnapshots())
    await this.#runPhase()
    await this.#stop()
    this.#createFolder()
    await restore(files, this.#folder)
    for (const [i, client] of this.#clients.entries()) client.restore(snapshots[i]!)
    await this.#start({ isShared: false })
  }

  /** Runs the service on a copy of its folder, then, in some cases, on the original again. */
  async #copy(): Promise<void> {
    await this.#runPhase()
    await this.#stop()
    const original = this.#folder
    const states = this.#clients.map((client) => client.spaces)
    this.#createFolder()
    copyFolder(original, this.#folder)
    await this.#start()
    await this.#runPhase()
    await this.#stop()
    if (this.#random.percent(50)) this.#folder = original
    if (this.#folder === original) for (const [i, client] of this.#clients.entries()) client.restore(states[i]!)
    await this.#start({ isShared: this.#folder !== original })
  }

  #createFolder(): void {
    this.#folder = join(this.#root, `data-${++this.#folders}`)
  }

  /** @param isShared true if the keys that clients share are as the test left them */
  async #start({ isShared = true } = {}): Promise<void> {
    this.#service = await startService(this.#options.configuration, this.#folder)
    const { port } = this.#service
    for (const client of this.#clients) client.connect(port)
    if (!this.#isPersistent) for (const client of this.#clients) client.restore([KeySpace.EMPTY])
    await this.#checkOldSequence(port)
    await verifyAll(this.#clients)
    await Promise.all(this.#clients.map(verifyShrinking))
    if (isShared && this.#isPersistent) await this.#shared.finish(this.#clients[0]!)
    else await this.#shared.restart(this.#clients[0]!)
  }

  async #stop(): Promise<void> {
    for (const client of this.#clients) client.disconnect()
    const service = this.#service!
    this.#service = undefined
    await service.stop()
  }

  /** Checks that a sequence of an ended process is no longer available. */
  async #checkOldSequence(port: number): Promise<void> {
    if (this.#lastId === undefined) return
    const connection = new ModelConnection(port)
    const reply = await connection.send({ method: 'GET', target: `/v0/watch?start=%00&after=${this.#lastId}` })
    connection.close()
    if (reply.status !== 410 || parseCode(reply.body) !== 'SEQUENCE_EXPIRED')
      throw new Difference(
        `a stream after ${this.#lastId}, from before the start: status ${reply.status}, expected 410`,
      )
  }
}
