import type { Commit, CommitOptions } from './store/commit.ts'
import type { LevelStoreOptions } from './store/level-store.ts'
import type { KvStore } from './store/store.ts'

/** Creates a part. Its module is loaded only if a setting selects it. */
type KvPartFactory<Options, Part> = (options: Options) => Promise<Part>
type KvPartTable<Options, Part> = Readonly<Record<string, KvPartFactory<Options, Part>>>

/** Table of all alternatives: part -> name -> lazy factory. */
export const parts = {
  store: {
    memory: async (options) => (await import('./store/memory-store.ts')).createMemoryStore(options),
    level: async (options) => (await import('./store/level-store.ts')).createLevelStore(options),
  } satisfies KvPartTable<LevelStoreOptions, KvStore>,

  /** Ways to turn writes into batches of LevelDB, for the store `level`. */
  commit: {
    group: async (options) => (await import('./store/group-commit.ts')).createGroupCommit(options),
    single: async (options) => (await import('./store/single-commit.ts')).createSingleCommit(options),
  } satisfies KvPartTable<CommitOptions, Commit>,
} as const

/** Returns the names of the alternatives of a part. */
export const getPartNames = <Part extends keyof typeof parts>(part: Part) =>
  Object.keys(parts[part]) as (keyof (typeof parts)[Part] & string)[]
