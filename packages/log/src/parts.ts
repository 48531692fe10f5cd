import type { JetStreamLogOptions } from './jetstream/options.ts'
import type { LocalLogOptions } from './local/local-log.ts'
import type { Log } from './log.ts'

/** Implementations of the log. Each is loaded only when it is selected. */
export const logs = {
  local: async (options: LocalLogOptions): Promise<Log> => (await import('./local/local-log.ts')).openLocalLog(options),
  jetstream: async (options: JetStreamLogOptions): Promise<Log> =>
    (await import('./jetstream/jetstream-log.ts')).openJetStreamLog(options),
} as const
