import type { Running } from '../contenders/contender.ts'
import { kvContender, putEntries } from '../contenders/kv.ts'
import { whole } from '../report/numbers.ts'
import { asking } from '../rounds/requests.ts'
import type { Row } from '../row.ts'
import { nameOf } from '../spec.ts'
import { rowOf } from '../tables/all.ts'
import { connectionsText, onBase, requestsOf } from '../tables/kv.ts'
import { KV_OPERATIONS, type RateOptions } from './options.ts'

const token = () => process.env.API_TOKEN
/** The headers that a running service with `API_TOKEN` needs. */
export const authorization = (): Readonly<Record<string, string>> =>
  token() ? { authorization: `Bearer ${token()}` } : {}

/** A service that already runs. Its process is unknown, and the run does not end it. */
const runningService = (url: string) => ({
  name: url,
  async start(): Promise<Running> {
    await fetch(`${url}/healthz`).catch((error: unknown) => {
      throw new Error(`${url} does not answer`, { cause: error })
    })
    return { url, pid: NaN, stop: async () => {} }
  },
})

function kvRow({ spec, op, base, connections, url }: RateOptions): Row {
  const entries = base!
  const { method, ...more } = KV_OPERATIONS[op as keyof typeof KV_OPERATIONS]
  const kind = { method, entries, connections, ...more }
  const name = `${nameOf(spec)}: ${op}, base of ${whole(entries)} entries`
  const started = { ...onBase(kind, kvContender(spec, entries)), name }
  if (url === undefined) return started
  return { ...started, ...asking(requestsOf(kind, authorization())), prepare: () => putEntries(url, entries, token()) }
}

/** The row that a run at a constant rate loads. @throws Error if there is none */
export function rateWorkload(options: RateOptions): Row & Required<Pick<Row, 'requests'>> {
  const { spec, op, connections, url } = options
  const row = spec.service === 'kv' ? kvRow(options) : rowOf(op === undefined ? spec : { ...spec, work: op }).row
  if (!row.requests || row.requests.pipeline !== undefined)
    throw new Error(`${row.name} has no requests to send at a rate`)
  const { contender, name, requests } = row
  return {
    ...row,
    name: `${name}, ${connectionsText(connections)}`,
    contender: url === undefined ? contender : runningService(url),
    requests: { ...requests, connections },
  }
}
