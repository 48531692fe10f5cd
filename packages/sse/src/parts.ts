import type { Broker, BrokerOptions } from './broker/broker.ts'
import type { Encoder } from './encoder/encoder.ts'
import type { CreateFanout } from './fanout/fanout.ts'
import type { History, HistoryOptions } from './history/history.ts'

/** Creates a part. The module of a part is loaded only if the part is used. */
type SsePartFactory<Options, Part> = (options: Options) => Promise<Part>
type SsePartTable<Options, Part> = Readonly<Record<string, SsePartFactory<Options, Part>>>

/** Parts of the service: for each part its alternatives by name. */
export const parts = {
  broker: {
    local: async (options) => (await import('./broker/local-broker.ts')).createLocalBroker(options),
    threads: async (options) => (await import('./broker/threads-broker.ts')).createThreadsBroker(options),
  } satisfies SsePartTable<BrokerOptions, Broker>,

  history: {
    none: async (options) => (await import('./history/no-history.ts')).createNoHistory(options),
    ring: async (options) => (await import('./history/ring-history.ts')).createRingHistory(options),
    level: async (options) => (await import('./history/level-history.ts')).createLevelHistory(options),
  } satisfies SsePartTable<HistoryOptions, History>,

  fanout: {
    each: async () => (await import('./fanout/each-fanout.ts')).createEachFanout,
    joined: async () => (await import('./fanout/joined-fanout.ts')).createJoinedFanout,
  } satisfies SsePartTable<void, CreateFanout>,

  /** Every process has all encoders, because each client chooses its own. */
  encoder: {
    'event-stream': async () => (await import('./encoder/event-stream-encoder.ts')).createEventStreamEncoder(),
    named: async () => (await import('./encoder/named-encoder.ts')).createNamedEncoder(),
    mercure: async () => (await import('./encoder/mercure-encoder.ts')).createMercureEncoder(),
    comet: async () => (await import('./encoder/comet-encoder.ts')).createCometEncoder(),
  } satisfies SsePartTable<void, Encoder>,
} as const

/** Returns the names of a part's alternatives. */
export const getPartNames = <Part extends keyof typeof parts>(part: Part) =>
  Object.keys(parts[part]) as (keyof (typeof parts)[Part] & string)[]
