import type { Expectation, LoadRequest, TurnPlan } from '../load.ts'

/** What the script reports, times in microseconds. */
export interface WrkReport {
  readonly requests: number
  readonly duration: number
  /** Processor time in seconds, all threads. */
  readonly cpu: number
  readonly connect: number
  readonly read: number
  readonly write: number
  readonly timeout: number
  /** Replies that were not as expected. */
  readonly wrong: number
  readonly p50: number
  readonly p75: number
  readonly p90: number
  readonly p99: number
  readonly p999: number
  readonly max: number
}

/** Ahead of the report in wrk's output. */
export const MARK = '@report '

/** The Lua script that makes wrk send a plan's requests in turn, check every reply, and report as JSON. */
export function wrkScript({ requests, expect }: TurnPlan): string {
  const sending = requests.length === 1 ? single(requests[0]!) : several(requests)
  return [sending, checking(expect), REPORT].join('\n')
}

/** A request that never changes needs no call of Lua for each. */
function single({ method, path, headers, body }: LoadRequest): string {
  return [
    `wrk.method = ${lua(method)}`,
    `wrk.path = ${lua(path)}`,
    `wrk.headers = ${table(headers)}`,
    `wrk.body = ${body === undefined ? 'nil' : lua(body)}`,
  ].join('\n')
}

function several(requests: readonly LoadRequest[]): string {
  const formatted = requests.map(({ method, path, headers, body }) => {
    const given = `${lua(method)}, ${lua(path)}, with(${table(headers)}), ${body === undefined ? 'nil' : lua(body)}`
    return `    wrk.format(${given}),`
  })
  return `
local ready, next = {}, 0
-- wrk.format takes given headers instead of its own, Host included.
local function with(headers)
  if not headers["Host"] then headers["Host"] = wrk.headers["Host"] end
  return headers
end
function init()
  ready = {
${formatted.join('\n')}
  }
end
function request()
  next = next % #ready + 1
  return ready[next]
end`
}

/** A look at every reply makes wrk take 6.3-6.9 us a request instead of 5.6. */
function checking({ status, body, includes }: Expectation): string {
  const faults = [`status ~= ${status}`]
  if (body !== undefined) faults.push(`body ~= ${lua(body)}`)
  if (includes !== undefined) faults.push(`not string.find(body, ${lua(includes)}, 1, true)`)
  return `
wrong = 0
function response(status, headers, body)
  if ${faults.join(' or ')} then wrong = wrong + 1 end
end
-- Each thread has variables of its own.
local threads = {}
function setup(thread) threads[#threads + 1] = thread end`
}

// os.clock() is the processor time of the whole process, threads that have ended included.
const REPORT = `
function done(summary, latency)
  local e, wrong = summary.errors, 0
  for _, thread in ipairs(threads) do wrong = wrong + thread:get("wrong") end
  io.write(string.format(
    '\\n${MARK}{"requests":%d,"duration":%d,"cpu":%.6f,"connect":%d,"read":%d,"write":%d,"timeout":%d,"wrong":%d,' ..
    '"p50":%d,"p75":%d,"p90":%d,"p99":%d,"p999":%d,"max":%d}\\n',
    summary.requests, summary.duration, os.clock(), e.connect, e.read, e.write, e.timeout, wrong,
    latency:percentile(50), latency:percentile(75), latency:percentile(90), latency:percentile(99),
    latency:percentile(99.9), latency.max))
end`

function table(headers: LoadRequest['headers'] = {}): string {
  const rows = Object.entries(headers).map(([name, value]) => `[${lua(name)}] = ${lua(value)}`)
  return `{ ${rows.join(', ')} }`
}

/** A Lua string of these bytes, whatever they are. */
function lua(text: string): string {
  let quoted = ''
  for (const byte of Buffer.from(text)) {
    const plain = byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c
    quoted += plain ? String.fromCharCode(byte) : `\\${String(byte).padStart(3, '0')}`
  }
  return `"${quoted}"`
}
