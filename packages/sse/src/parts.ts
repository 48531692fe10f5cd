import type { Broker, BrokerOptions } from './broker/broker.ts'
import type { Encoder } from './encoder/encoder.ts'
import type { CreateFanout } from './fanout/fanout.ts'
import type { History, HistoryOptions } from './history/history.ts'

/** Makes a part; its module is loaded only when it is chosen. */
type Factory<Options, Part> = (options: Options) => Promise<Part>
type Table<Options, Part> = Readonly<Record<string, Factory<Options, Part>>>

/** The one table of alternatives: part -> name -> lazy factory. */
export const parts = {
  broker: {
    local: async (options) => (await import('./broker/local.ts')).createLocalBroker(options),
    threads: async (options) => (await import('./broker/threads.ts')).createThreadsBroker(options),
  } satisfies Table<BrokerOptions, Broker>,

  history: {
    none: async (options) => (await import('./history/none.ts')).createNoHistory(options),
    ring: async (options) => (await import('./history/ring.ts')).createRingHistory(options),
    level: async (options) => (await import('./history/level.ts')).createLevelHistory(options),
  } satisfies Table<HistoryOptions, History>,

  fanout: {
    each: async () => (await import('./fanout/each.ts')).createEachFanout,
    joined: async () => (await import('./fanout/joined.ts')).createJoinedFanout,
  } satisfies Table<void, CreateFanout>,

  /** Every process has all of them: the client chooses. */
  encoder: {
    'event-stream': async () => (await import('./encoder/event-stream.ts')).createEventStreamEncoder(),
    named: async () => (await import('./encoder/named.ts')).createNamedEncoder(),
    mercure: async () => (await import('./encoder/mercure.ts')).createMercureEncoder(),
    comet: async () => (await import('./encoder/comet.ts')).createCometEncoder(),
  } satisfies Table<void, Encoder>,
} as const

/** The names of a part's alternatives. */
export const namesOf = <Part extends keyof typeof parts>(part: Part) =>
  Object.keys(parts[part]) as (keyof (typeof parts)[Part] & string)[]
