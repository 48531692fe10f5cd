import { createRandom, type SeededRandom } from './random.ts'

/** What `pnpm test:chaos` was asked for, as its tests see it. */
const seed = process.env.CHAOS_SEED ?? 'chaos'

/** Whether everything is done as often as it takes to be sure, rather than in minutes. */
export const isLong = process.env.CHAOS_FORM === 'long'

/** Chances for a test, which its name and the seed decide. */
export const createTestRandom = (name: string): SeededRandom => createRandom(`${seed}/${name}`)
