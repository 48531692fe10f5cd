import type { Commit, CommitOptions } from './store/commit.ts'
import type { LevelStoreOptions } from './store/level-store.ts'
import type { ReplicatedStoreOptions } from './store/replicated-store.ts'
import type { KvStore } from './store/store.ts'

/** Makes a part; its module is loaded only when it is chosen. */
type KvPartFactory<Options, Part> = (options: Options) => Promise<Part>
type KvPartTable<Options, Part> = Readonly<Record<string, KvPartFactory<Options, Part>>>

/** The one table of alternatives: part -> name -> lazy factory. */
export const parts = {
  store: {
    memory: async (options) => (await import('./store/memory-store.ts')).createMemoryStore(options),
    level: async (options) => (await import('./store/level-store.ts')).createLevelStore(options),
  } satisfies KvPartTable<LevelStoreOptions, KvStore>,

  /** The store of a node of many: `--log` chooses it. */
  replica: {
    jetstream: async (options) => (await import('./store/replicated-store.ts')).createReplicatedStore(options),
  } satisfies KvPartTable<ReplicatedStoreOptions, KvStore>,

  /** How the store `level` writes. */
  commit: {
    group: async (options) => (await import('./store/group-commit.ts')).createGroupCommit(options),
    single: async (options) => (await import('./store/single-commit.ts')).createSingleCommit(options),
  } satisfies KvPartTable<CommitOptions, Commit>,
} as const

/** The names of a part's alternatives. */
export const getPartNames = <Part extends keyof typeof parts>(part: Part) =>
  Object.keys(parts[part]) as (keyof (typeof parts)[Part] & string)[]
