import { createRandom, type SeededRandom } from './random.ts'

/** Options of `pnpm test:chaos`, as its tests see them. */
const seed = process.env.CHAOS_SEED ?? 'chaos'

/** True for the long form, which repeats everything often enough for certainty. */
export const isLong = process.env.CHAOS_FORM === 'long'

/** Random numbers of a test, which its name and the seed determine. */
export const createTestRandom = (name: string): SeededRandom => createRandom(`${seed}/${name}`)
