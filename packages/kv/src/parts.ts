import type { Commit, CommitOptions } from './store/commit.ts'
import type { LevelStoreOptions } from './store/level.ts'
import type { ReplicatedStoreOptions } from './store/replicated.ts'
import type { Store } from './store/store.ts'

/** Makes a part; its module is loaded only when it is chosen. */
type Factory<Options, Part> = (options: Options) => Promise<Part>
type Table<Options, Part> = Readonly<Record<string, Factory<Options, Part>>>

/** The one table of alternatives: part -> name -> lazy factory. */
export const parts = {
  store: {
    memory: async (options) => (await import('./store/memory.ts')).createMemoryStore(options),
    level: async (options) => (await import('./store/level.ts')).createLevelStore(options),
  } satisfies Table<LevelStoreOptions, Store>,

  /** The store of a node of many: `--log` chooses it. */
  replica: {
    jetstream: async (options) => (await import('./store/replicated.ts')).createReplicatedStore(options),
  } satisfies Table<ReplicatedStoreOptions, Store>,

  /** How the store `level` writes. */
  commit: {
    group: async (options) => (await import('./store/group-commit.ts')).createGroupCommit(options),
    single: async (options) => (await import('./store/single-commit.ts')).createSingleCommit(options),
  } satisfies Table<CommitOptions, Commit>,
} as const

/** The names of a part's alternatives. */
export const namesOf = <Part extends keyof typeof parts>(part: Part) =>
  Object.keys(parts[part]) as (keyof (typeof parts)[Part] & string)[]
