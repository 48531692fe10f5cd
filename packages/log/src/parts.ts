import type { JetStreamLogOptions } from './jetstream/options.ts'
import type { LocalLogOptions } from './local/local.ts'
import type { Log } from './log.ts'

/** The alternatives of the log, each loaded only when it is chosen. */
export const logs = {
  local: async (options: LocalLogOptions): Promise<Log> => (await import('./local/local.ts')).createLocalLog(options),
  jetstream: async (options: JetStreamLogOptions): Promise<Log> =>
    (await import('./jetstream/jetstream.ts')).openJetStreamLog(options),
} as const
