import type { SeededRandom } from '@influencer-stats/runtime/testing/seeded-random'
import { setTimeout as delay } from 'node:timers/promises'
import { spawnPrices, type SpawnedPrices } from '../support/spawn-prices.ts'
import { checkFacets } from './check-facets.ts'
import {
  checkAll,
  checkBulk,
  checkCsv,
  checkExplain,
  checkExport,
  checkGet,
  checkSearch,
  readReply,
  toComparable,
  type QueryContext,
} from './check-queries.ts'
import { Difference, expectSame } from './difference.ts'
import { drawChange, drawImport } from './generate-changes.ts'
import { findDifference } from './json-text.ts'
import { applyChange, type ModelChange } from './model-changes.ts'
import { toJson, type Prices } from './model-price.ts'
import { sortPrices } from './model-search.ts'
import { parseLines, send, toCurl } from './oracle-client.ts'
import { renderChange, renderExport } from './render-requests.ts'

/** The parts of the service in an episode. */
export interface OracleConfiguration {
  readonly server: 'raw' | 'node-http' | 'fastify'
  readonly threads: 1 | 2
  readonly catalog: 'memory' | 'lru-level'
}

export interface EpisodeOptions {
  readonly configuration: OracleConfiguration
  /** The indexes that answer, in turn. */
  readonly indexes: readonly string[]
  readonly random: SeededRandom
  /** An empty data folder. */
  readonly folder: string
  /** Mean number of changes between two kills; 0 for none. */
  readonly changesPerKill: number
  isDone(counts: EpisodeCounts): boolean
}

export interface EpisodeCounts {
  queries: number
  changes: number
  kills: number
}

/** Maximum time of changes before a kill (ms). */
const MAX_KILL_DELAY_MS = 60

/** The checks after each change, and how many queries each has. */
const CHECKS: readonly ((context: QueryContext) => Promise<number | void>)[] = [
  checkSearch,
  checkSearch,
  checkSearch,
  checkExplain,
  checkBulk,
  checkAll,
  checkAll,
  checkFacets,
  checkFacets,
  checkGet,
]

const EXPORT_CHECKS = [checkExport, checkCsv]

/** The life of one service, which starts with an empty folder. Every reply is compared with that of the model. */
export class Episode {
  readonly counts: EpisodeCounts = { queries: 0, changes: 0, kills: 0 }
  /** The commands that repeat all changes. */
  readonly commands: string[] = []
  readonly #options: EpisodeOptions
  readonly #random: SeededRandom
  #prices: Prices = new Map()
  #service!: SpawnedPrices
  #url = ''

  constructor(options: EpisodeOptions) {
    this.#options = options
    this.#random = options.random
  }

  /** @throws Difference */
  async run(): Promise<void> {
    const { changesPerKill, isDone } = this.#options
    await this.#start()
    while (this.#prices.size === 0)
      await this.#change(drawImport(this.#random.fork(`import ${this.counts.changes}`), true))
    while (!isDone(this.counts)) {
      if (changesPerKill > 0 && this.#random.below(changesPerKill) === 0) await this.#restart()
      await this.#change(this.#drawChange())
      await this.#query()
    }
    await checkExport(this.#createContext(), true)
    await this.#service.stop()
  }

  async #start(): Promise<void> {
    const { configuration, indexes, folder } = this.#options
    const settings = { ...configuration, indexes: indexes.join(), maxQueueDelay: 0 }
    this.#service = spawnPrices(folder, settings)
    this.#url = await this.#service.url
  }

  #createContext(name = ''): QueryContext {
    const random = this.#random.fork(`${name} of ${this.counts.changes}`)
    return { url: this.#url, prices: this.#prices, random, index: random.pick(['bitmap', ...this.#options.indexes]) }
  }

  async #query(): Promise<void> {
    const run = async (check: (typeof CHECKS)[number], i: number) => (await check(this.#createContext(String(i)))) ?? 1
    const chosen = CHECKS.filter(() => this.#random.percent(60))
    const checks = this.#random.percent(10) ? [...chosen, ...EXPORT_CHECKS] : chosen
    for (const count of await Promise.all(checks.map(run))) this.counts.queries += count
  }

  #drawChange(): ModelChange {
    return drawChange(this.#random.fork(`change ${this.counts.changes}`), this.#prices)
  }

  async #change(change: ModelChange): Promise<void> {
    const outcome = applyChange(this.#prices, change)
    const request = renderChange(this.#random, change)
    this.commands.push(toCurl(request))
    const reply = await send(this.#url, request)
    const comparison = { expected: toComparable(outcome.reply), received: readReply(reply.status, reply.text) }
    expectSame(request, reply, this.#prices, comparison)
    this.#prices = outcome.prices
    this.counts.changes++
  }

  /** Stops or kills the service, and starts it again. No acknowledged change may be lost. */
  async #restart(): Promise<void> {
    if (this.#random.percent(25)) {
      await this.#service.stop()
      await this.#start()
    } else await this.#kill()
    await checkExport(this.#createContext(), true)
  }

  /** Kills the service while it makes changes. The last one is not acknowledged, so it may be lost. */
  async #kill(): Promise<void> {
    let isKilled = false
    const killed = delay(this.#random.below(MAX_KILL_DELAY_MS)).then(() => {
      isKilled = true
      return this.#service.crash()
    })
    let last: ModelChange | undefined
    while (!last) {
      const change = this.#drawChange()
      await this.#change(change).catch((error: unknown) => {
        if (error instanceof Difference || !isKilled) throw error
        last = change
      })
    }
    await killed
    this.commands.push('# killed; the last change may be lost')
    this.counts.kills++
    await this.#start()
    const { prices } = applyChange(this.#prices, last)
    const exported = await send(this.#url, renderExport({}))
    const expected = sortPrices([...prices.values()], {}).map(toJson)
    if (findDifference(expected, parseLines(exported.text)) === undefined) this.#prices = prices
  }
}
