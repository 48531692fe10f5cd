import type { commits, LevelStoreOptions } from './store/level.ts'
import type { Store } from './store/store.ts'

/** The one table of alternatives: part -> name -> lazy factory. */
export const parts = {
  store: {
    memory: async () => (await import('./store/memory.ts')).createMemoryStore(),
    level: async (options) => (await import('./store/level.ts')).createLevelStore(options),
  } satisfies Record<string, (options: LevelStoreOptions) => Promise<Store>>,
} as const

/** The names of a part's alternatives. */
export const namesOf = <Part extends keyof typeof parts>(part: Part) =>
  Object.keys(parts[part]) as (keyof (typeof parts)[Part] & string)[]

/** The ways in which the store `level` writes. */
export const COMMITS = ['group', 'single'] as const satisfies (keyof typeof commits)[]
