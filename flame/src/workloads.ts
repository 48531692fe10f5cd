import type { Running } from '@influencer-stats/bench/contenders/contender'

/** What a service is asked while it is profiled. */
export interface Workload {
  /** In words, for "on the serving thread ...". */
  readonly says: string
  /** Starts what the service needs beside it, in processes of its own: their work is not the service's. */
  beside?(): Promise<Beside>
  /** Brings the service to where it can be profiled, and proves that it answers right. @throws Error if it does not */
  prepare?(running: Running): Promise<void>
  /**
   * Does some work while the service is under load, warmed up before.
   *
   * @param seconds how long the work takes
   * @throws Error when a reply was wrong or did not come: what was profiled is not the service at work
   */
  during<T>(running: Running, seconds: number, work: () => Promise<T>): Promise<T>
}

/** What runs beside a service, and the settings that lead to it. */
export interface Beside {
  readonly settings: Readonly<Record<string, string>>
  stop(): Promise<void>
}

/** The name of the workload of a service that has but one: its snapshots lie in the variant's own folder. */
export const ONLY = ''

type Table = Readonly<Record<string, Readonly<Record<string, () => Promise<Workload>>>>>

/** The one table of workloads: service -> name -> lazy import. */
export const workloads: Table = {
  stats: { [ONLY]: async () => (await import('./workloads/stats.ts')).read },
  sse: {
    connecting: async () => (await import('./workloads/sse.ts')).connecting,
    'fan-out': async () => (await import('./workloads/sse.ts')).fanOut,
  },
  kv: {
    put: async () => (await import('./workloads/kv.ts')).put,
    get: async () => (await import('./workloads/kv.ts')).get,
  },
  prices: {
    single: async () => (await import('./workloads/prices.ts')).single,
    bulk: async () => (await import('./workloads/prices.ts')).bulk,
  },
}
