import { StartError } from '@influencer-stats/runtime/errors'
import type { LogConnection } from './connect-nats.ts'
import type { JetStreamLogOptions } from './options.ts'

/** Errors of the settings. They end a start. */
export const SETTING_CODES = new Set(['NATS_URL_WRONG', 'NATS_FILE_UNREADABLE', 'LOG_LIMITS'])

/** Faults that last until an operator acts. A start does not wait for their end. */
export const LASTING_CODES = new Set([
  'LOG_FOREIGN',
  'LOG_FORMAT_UNKNOWN',
  'LOG_DAMAGED',
  'CLUSTER_MISMATCH',
  'LOG_TRIMMED',
])

/** The node must restart to follow the log: its threads have the state of before. */
export class RestartError extends StartError {
  constructor(message: string) {
    super('LOG_RESTART', message)
  }
}

/** Returns the reason why a log that was attached does not respond. */
export function createUnresponsiveError(
  { service, stream }: Pick<JetStreamLogOptions, 'service' | 'stream'>,
  connection: LogConnection,
): StartError {
  if (connection.isUp()) return new StartError('LOG_UNREACHABLE', `${service}: stream ${stream} does not respond`)
  return connection.isForbidden()
    ? new StartError('NATS_FORBIDDEN', `${service}: NATS refuses these credentials`)
    : new StartError('NATS_UNREACHABLE', `${service}: no NATS server is reachable`)
}

export const toStartError = (error: unknown, service: string): StartError =>
  error instanceof StartError ? error : new StartError('LOG_UNREACHABLE', `${service}: ${(error as Error).message}`)
