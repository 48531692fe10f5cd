import { createRandom, type SeededRandom } from './random.ts'

// Options of `pnpm test:chaos`, which the tests read from the environment.

/** Seed of the run. */
export const seed = process.env.CHAOS_SEED ?? 'chaos'

/** True for the long form, which repeats the faults more often. */
export const isLong = process.env.CHAOS_FORM === 'long'

/** Creates the random numbers of a test, which are determined by its name and the seed. */
export const createTestRandom = (name: string): SeededRandom => createRandom(`${seed}/${name}`)
