import { findText, text } from '../texts/texts.ts'

/** Readiness of a node of a cluster for writes: `writes` of `GET /readyz`. */
export interface NodeWrites {
  readonly ready: boolean
  /** True if the node has no data yet, and therefore refuses reads, too. */
  readonly isEmpty?: boolean
  readonly code?: string
  /** One sentence for operators. */
  readonly detail?: string
  /** Start of the outage (ISO 8601). */
  readonly since?: string
}

/** A NATS server of a log. A value that is not known is absent. */
export interface LogServer {
  readonly name: string
  readonly role: 'leader' | 'replica' | 'unknown'
  readonly state: 'current' | 'behind' | 'offline' | 'unknown'
  /** Messages that it does not have yet. */
  readonly lag?: number
  readonly lastContactAt?: string
}

/** The log of a service, as a node knows it: `log` of `GET /node`. */
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

/** What a node reports about its log. A value that is not known is absent. */
export interface NodeLog {
  readonly node: string
  readonly writes?: NodeWrites | undefined
  readonly log?: LogServers | undefined
}

/** A reason why nodes take no writes. */
export interface WriteOutage {
  readonly code: string
  readonly detail: string | undefined
  readonly since: string | undefined
  /** True if none of the nodes has data to read. */
  readonly isEmpty: boolean
  readonly nodes: readonly string[]
}

/** Writes of a service on all its nodes. */
export interface WriteOverview {
  /** `some`: not on all nodes whose state is known. */
  readonly state: 'all' | 'some' | 'none' | 'unknown'
  readonly outages: readonly WriteOutage[]
}

export function summarizeWrites(nodes: readonly NodeLog[]): WriteOverview {
  const known = nodes.flatMap(({ node, writes }) => (writes ? [{ node, ...writes }] : []))
  const refusing = known.filter(({ ready }) => !ready)
  const outages = [...Map.groupBy(refusing, ({ code = 'UNKNOWN' }) => code)].map(([code, some]) => ({
    code,
    detail: some[0]!.detail,
    since: some.flatMap(({ since = [] }) => since).sort()[0],
    isEmpty: some.every(({ isEmpty = false }) => isEmpty),
    nodes: some.map(({ node }) => node),
  }))
  if (known.length === 0) return { state: 'unknown', outages }
  if (refusing.length === 0) return { state: 'all', outages }
  return { state: refusing.length === known.length ? 'none' : 'some', outages }
}

/** The newest report of all nodes. A node without contact to NATS has an old one. */
export function findNewestReport(nodes: readonly NodeLog[]): LogServers | undefined {
  const reports = nodes.flatMap(({ log }) => log ?? [])
  return reports.sort(
    (a, b) => Number(isRecent(b)) - Number(isRecent(a)) || (b.observedAt ?? '').localeCompare(a.observedAt ?? ''),
  )[0]
}

/** True if a report is recent enough to describe the servers. */
export const isRecent = ({ servers }: LogServers): boolean => servers.some(({ state }) => state !== 'unknown')

/** A sentence about the majority that writes require. Undefined if all servers are up, or their states are unknown. */
export function describeMajority(servers: readonly LogServer[]): string | undefined {
  const down = servers.filter(({ state }) => state === 'offline')
  if (down.length === 0) return undefined
  const up = servers.length - down.length
  const spare = up - (Math.floor(servers.length / 2) + 1)
  const names = down.map(({ name }) => name).join(', ')
  const key = spare > 0 ? 'log.majority' : spare === 0 ? 'log.majorityExact' : 'log.minority'
  return text(key, { up, all: servers.length, names })
}

/** The codes after which an operator continues the log with `pnpm cluster rescue`. */
const RESCUE_CODES: ReadonlySet<string> = new Set(['LOG_LOST', 'LOG_TRIMMED'])

/**
 * A sentence with the cause of an outage and one with the remedy, for each code a text of the page, and the chapter of
 * docs/deploy.md with the steps.
 */
export function describeOutage(code: string): {
  readonly cause: string
  readonly remedy: string
  readonly chapter?: string
} {
  const cause = findText(`outage.${code}`) ?? text('log.otherOutage')
  const remedy = findText(`remedy.${code}`) ?? text('log.otherRemedy')
  return { cause, remedy, ...(RESCUE_CODES.has(code) && { chapter: 'When the log is lost' }) }
}

/** The code of an outage in the detail of `NOT_READY`: a node without data is not ready for reads either. */
export const findOutageCode = (detail: string | undefined): string | undefined =>
  detail !== undefined && findText(`outage.${detail}`) !== undefined ? detail : undefined
