import type { LoadGenerator } from './load.ts'

/** The load generators, by name; what one needs is imported when it is asked for. */
export const generators: Record<'autocannon' | 'raw' | 'wrk', () => Promise<LoadGenerator>> = {
  autocannon: async () => (await import('./autocannon.ts')).createAutocannon(),
  raw: async () => (await import('./raw.ts')).createRaw(),
  wrk: async () => (await import('./wrk.ts')).createWrk(),
}
