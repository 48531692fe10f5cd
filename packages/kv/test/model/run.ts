import { Difference } from './difference.ts'
import { Episode, LIFECYCLES, type EpisodeOptions } from './episode.ts'
import { CONFIGURATIONS } from './service.ts'

/** How large an episode is. */
export interface EpisodeSize {
  /** How often the process ends and starts again. */
  readonly lifecycles: number
  /** Steps of each client between two of them. */
  readonly steps: number
}

/** What episode `index` is with a seed: the configurations in turn, each time with other lifecycles. */
function episodeOf(seed: string, index: number, { lifecycles: count, steps }: EpisodeSize): EpisodeOptions {
  const configuration = CONFIGURATIONS[index % CONFIGURATIONS.length]!
  const lifecycles = Array.from({ length: count }, (_, i) => LIFECYCLES[(index + i) % LIFECYCLES.length]!)
  return { seed: `${seed}/${index}`, configuration, lifecycles, steps }
}

export interface RunOptions extends EpisodeSize {
  readonly seed: string
  /** The first episode. */
  readonly from?: number
  /** Whether another episode follows. */
  isDone(index: number): boolean
  report(line: string): void
}

/** Runs episodes one after the other. @returns how many ran. @throws Difference, with all that reproduces it */
export async function runModel({ seed, from = 0, isDone, report, ...size }: RunOptions): Promise<number> {
  let index = from
  for (; !isDone(index); index++) {
    const options = episodeOf(seed, index, size)
    const { server, store, commit, threads } = options.configuration
    const name = `episode ${index}: ${server}, ${store}, ${commit}, threads ${threads}; ${options.lifecycles.join(', ')}`
    const begunAt = Date.now()
    try {
      const { operations, watched, drops } = await new Episode(options).run()
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
