import { createRandom } from '@influencer-stats/runtime/testing/seeded-random'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { Difference, writeLines } from './difference.ts'
import { Episode, type EpisodeCounts, type OracleConfiguration } from './episode.ts'

const SERVERS = ['raw', 'node-http', 'fastify'] as const
const THREADS = [1, 2] as const
const CATALOGS = ['memory', 'lru-level'] as const
/** Number of episodes until each server has run with each number of threads. */
export const ROTATION = SERVERS.length * THREADS.length

export interface OracleOptions {
  readonly seed: string
  /** The command of pnpm that runs the episodes. */
  readonly command: string
  readonly indexes: readonly string[]
  /** The first episode, and the first that does not run. */
  readonly from: number
  readonly end: number
  readonly changesPerKill: number
  /** True if an episode has run for long enough. */
  isDone(counts: EpisodeCounts): boolean
}

function pick<T>(from: readonly T[], index: number): T {
  return from[index % from.length]!
}

const toConfiguration = (episode: number): OracleConfiguration => ({
  server: pick(SERVERS, episode),
  threads: pick(THREADS, episode),
  catalog: pick(CATALOGS, Math.floor(episode / SERVERS.length)),
})

/**
 * Compares the service with the model, in episodes of which each has an own service.
 * @throws Difference with the seed and the command that repeats the episode
 */
export async function runOracle({ seed, command, from, end, ...options }: OracleOptions): Promise<EpisodeCounts> {
  const sum: EpisodeCounts = { queries: 0, changes: 0, kills: 0 }
  for (let number = from; number < end; number++) {
    const configuration = toConfiguration(number)
    const random = createRandom(`${seed}/${number}`)
    const episode = new Episode({ ...options, configuration, random, folder: createTemporaryFolder() })
    try {
      await episode.run()
    } catch (error) {
      if (!(error instanceof Difference)) throw error
      const counts = JSON.stringify({ ...configuration, ...episode.counts })
      const again = `PRICES_ORACLE_SEED=${seed} PRICES_ORACLE_EPISODE=${number} npx -y pnpm@12.21.0 ${command}`
      const changes = writeLines('changes.sh', episode.commands)
      throw new Difference(
        `seed ${seed}, episode ${number} ${counts}\n${error.message}\n  all changes: ${changes}\n  again: ${again}`,
      )
    }
    for (const name of ['queries', 'changes', 'kills'] as const) sum[name] += episode.counts[name]
  }
  return sum
}
