import type { JetStreamLogOptions } from './jetstream/options.ts'
import type { LocalLogOptions } from './local/local-log.ts'
import type { Log } from './log.ts'

/** The alternatives of the log, each loaded only when it is chosen. */
export const logs = {
  local: async (options: LocalLogOptions): Promise<Log> =>
    (await import('./local/local-log.ts')).createLocalLog(options),
  jetstream: async (options: JetStreamLogOptions): Promise<Log> =>
    (await import('./jetstream/jetstream-log.ts')).openJetStreamLog(options),
} as const
