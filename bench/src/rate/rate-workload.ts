import type { TargetProcess } from '../targets/target.ts'
import { createKvTarget, putEntries } from '../targets/kv.ts'
import { formatWhole } from '../report/format-numbers.ts'
import { createRequestRound } from '../rounds/request-round.ts'
import type { BenchRow } from '../row.ts'
import { formatSpec } from '../spec.ts'
import { findRow } from '../tables/find-row.ts'
import { formatConnections, createBaseRow, createRequests } from '../tables/kv.ts'
import { KV_OPERATIONS, type RateOptions } from './rate-options.ts'

const getToken = () => process.env.API_TOKEN
/** Creates the headers that a running service with `API_TOKEN` needs. */
export const createAuthorization = (): Readonly<Record<string, string>> =>
  getToken() ? { authorization: `Bearer ${getToken()}` } : {}

/** Creates the target of a service that already runs. Its pid is unknown, and `stop` does not stop it. */
const createRunningTarget = (url: string) => ({
  name: url,
  async start(): Promise<TargetProcess> {
    await fetch(`${url}/healthz`).catch((error: unknown) => {
      throw new Error(`${url} does not respond`, { cause: error })
    })
    return { url, pid: NaN, stop: async () => {} }
  },
})

function createKvRow({ spec, op, base, connections, url }: RateOptions): BenchRow {
  const entries = base!
  const { method, ...more } = KV_OPERATIONS[op as keyof typeof KV_OPERATIONS]
  const kind = { method, entries, connections, ...more }
  const name = `${formatSpec(spec)}: ${op}, base of ${formatWhole(entries)} entries`
  const started = { ...createBaseRow(kind, createKvTarget(spec, entries)), name }
  if (url === undefined) return started
  return {
    ...started,
    ...createRequestRound(createRequests(kind, createAuthorization())),
    prepare: () => putEntries(url, entries, getToken()),
  }
}

/** Creates the row of a run at a constant rate. @throws Error if the row has no requests */
export function createRateWorkload(options: RateOptions): BenchRow & Required<Pick<BenchRow, 'requests'>> {
  const { spec, op, connections, url } = options
  const row =
    spec.service === 'kv' ? createKvRow(options) : findRow(op === undefined ? spec : { ...spec, work: op }).row
  if (!row.requests || row.requests.pipeline !== undefined)
    throw new Error(`${row.name} has no requests to send at a rate`)
  const { target, name, requests } = row
  return {
    ...row,
    name: `${name}, ${formatConnections(connections)}`,
    target: url === undefined ? target : createRunningTarget(url),
    requests: { ...requests, connections },
  }
}
