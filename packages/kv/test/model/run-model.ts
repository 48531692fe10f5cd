import { Difference } from './difference.ts'
import { Episode, LIFECYCLES, type EpisodeOptions } from './episode.ts'
import { CONFIGURATIONS } from './service.ts'

export interface EpisodeSize {
  /** Number of times that the process ends and starts again. */
  readonly lifecycles: number
  /** Steps of each client between two lifecycles. */
  readonly steps: number
}

/**
 * Returns the options of episode `index` for a seed. Episodes cycle through the configurations, each time with other
 * lifecycles.
 */
function createEpisode(seed: string, index: number, { lifecycles: count, steps }: EpisodeSize): EpisodeOptions {
  const configuration = CONFIGURATIONS[index % CONFIGURATIONS.length]!
  const lifecycles = Array.from({ length: count }, (_, i) => LIFECYCLES[(index + i) % LIFECYCLES.length]!)
  return { seed: `${seed}/${index}`, configuration, lifecycles, steps }
}

export interface ModelRunOptions extends EpisodeSize {
  readonly seed: string
  /** Index of the first episode. */
  readonly from?: number
  /** True if no further episode follows. */
  isDone(index: number): boolean
  report(line: string): void
}

/** Runs episodes one after another. @returns the number of episodes. @throws Difference, with all that reproduces it */
export async function runModel({ seed, from = 0, isDone, report, ...size }: ModelRunOptions): Promise<number> {
  let index = from
  for (; !isDone(index); index++) {
    const options = createEpisode(seed, index, size)
    const { server, store, commit, threads } = options.configuration
    const name = `episode ${index}: ${server}, ${store}, ${commit}, threads ${threads}; ${options.lifecycles.join(', ')}`
    const begunAt = Date.now()
    try {
      const { operations, watchedCount: watched, drops } = await new Episode(options).run()
      report(
        `${name}: ${operations} operations, ${watched} changes watched, ${drops} drops, ${Date.now() - begunAt} ms`,
      )
    } catch (error) {
      const { lifecycles, steps } = size
      const again = `pnpm test:model --seed ${seed} --from ${index} --episodes 1 --lifecycles ${lifecycles} --steps ${steps}`
      throw new Difference(`seed ${seed}, ${name}\n${(error as Error).stack}\nagain: ${again}`, { cause: error })
    }
  }
  return index - from
}
