import { closedObject } from '@influencer-stats/runtime/closed-object'
import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import { SharedJson } from './shared-json.ts'

const serverSchema = closedObject(
  {
    name: { type: 'string' },
    role: { type: 'string', enum: ['leader', 'replica', 'unknown'] },
    state: {
      type: 'string',
      enum: ['current', 'behind', 'offline', 'unknown'],
      description: '`offline`: without contact to the leader. `unknown`: there is no recent report.',
    },
    lag: { type: 'integer', description: 'Messages that it does not have yet. Absent if it is unknown.' },
    lastContactAt: {
      type: 'string',
      format: 'date-time',
      description: 'Last contact with the leader; of the leader, the last report. Absent if it is unknown.',
    },
  },
  { required: ['name', 'role', 'state'] },
)

const limitSchema = closedObject(
  {
    scope: {
      type: 'string',
      enum: ['stream', 'account', 'none'],
      description: 'Configured limit. With `none`, only the disk of a server limits the log.',
    },
    usedBytes: { type: 'integer', description: 'Bytes that count against the limit.' },
    maxBytes: { type: 'integer' },
  },
  { required: ['scope'], description: 'Limit of the storage. Absent if it is unknown.' },
)

export const logServersSchema = closedObject(
  {
    stream: { type: 'string', description: 'Name of the stream.' },
    servers: {
      type: 'array',
      items: serverSchema,
      description: 'Servers of the stream, the leader first. Empty before the first report.',
    },
    bytes: { type: 'integer', description: 'Size of the stream on each server. Absent if it is unknown.' },
    limit: limitSchema,
    observedAt: {
      type: 'string',
      format: 'date-time',
      description: 'Time of the last report that a majority of the servers supports.',
    },
  },
  { description: 'NATS servers of the log.', required: ['stream', 'servers'] },
)

/** Server of a log. A value that is not known is absent. */
export interface LogServer {
  readonly name: string
  readonly role: 'leader' | 'replica' | 'unknown'
  readonly state: 'current' | 'behind' | 'offline' | 'unknown'
  readonly lag?: number
  readonly lastContactAt?: string
}

/** NATS servers of a log, as the last report of a majority describes them. A value that is not known is absent. */
export interface LogServers {
  readonly stream: string
  readonly servers: readonly LogServer[]
  readonly bytes?: number
  readonly limit?: {
    readonly scope: 'stream' | 'account' | 'none'
    readonly usedBytes?: number
    readonly maxBytes?: number
  }
  readonly observedAt?: string
}

/** Age at which a report no longer describes the servers (ms). A report arrives every second. */
const MAX_REPORT_AGE_MS = 4_000
const SLOT_BYTES = 8_192

/** Size of the servers in shared memory (bytes). */
export const LOG_SERVERS_BYTES = SharedJson.getSize(SLOT_BYTES)

/** NATS servers of a log in shared memory. */
export class SharedLogServers {
  readonly #shared: SharedJson<{ readonly servers: LogServers; readonly at: number | undefined }>

  /** @param offset of its memory (bytes; a multiple of 8) */
  constructor(memory: SharedArrayBuffer, offset: number) {
    this.#shared = new SharedJson(memory, offset, SLOT_BYTES)
  }

  /**
   * Main thread only.
   * @param at time of the report (ms of `steadyNow`); undefined before the first
   */
  write(servers: LogServers, at?: number): void {
    this.#shared.write({ servers, at })
  }

  /** Returns the servers. If the last report is old, their states are unknown. */
  read(): LogServers | undefined {
    const found = this.#shared.read()
    if (!found) return undefined
    const { servers, at = -Infinity } = found
    return steadyNow() - at > MAX_REPORT_AGE_MS ? forgetStates(servers) : servers
  }
}

/** Returns servers of which only the names and the last contacts are known. */
const forgetStates = (servers: LogServers): LogServers => ({
  ...servers,
  servers: servers.servers.map(({ name, lastContactAt }) => ({
    name,
    role: 'unknown',
    state: 'unknown',
    ...(lastContactAt !== undefined && { lastContactAt }),
  })),
})
