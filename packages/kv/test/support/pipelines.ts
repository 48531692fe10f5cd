import * as fc from 'fast-check'

/** One request of a pipeline. Keys are letters. A test gives each pipeline its own prefix. */
export type PipelineRequest =
  | {
      readonly type: 'put'
      readonly key: string
      readonly value: string
      readonly condition: string
      readonly form: BodyForm
    }
  | { readonly type: 'delete'; readonly key: string; readonly condition: string }
  | { readonly type: 'get' | 'head'; readonly key: string; readonly condition: string; readonly query: string }
  | { readonly type: 'batch'; readonly changes: readonly PipelineChange[] }
  | { readonly type: 'range' }
  | { readonly type: 'nowhere' }

interface PipelineChange {
  readonly key: string
  /** Absent for a delete. */
  readonly value?: string | undefined
}

/** Body form of a PUT. Only the first form stays with the raw server adapter. */
type BodyForm = 'length' | 'chunked' | 'expect' | 'large'

/** Size of a value that exceeds the raw server adapter's limit for one request (bytes). */
const LARGE_VALUE_BYTES = 140_000

const CONDITIONS = ['', '', '', 'if-match: *', 'if-none-match: *', 'if-match: "never"']

const key = fc.constantFrom('a', 'b', 'c')
const value = fc.string({ maxLength: 12, unit: fc.constantFrom(...'abcdefgh 0123456789') })
const condition = fc.constantFrom(...CONDITIONS)
const form = fc.oneof(
  { weight: 12, arbitrary: fc.constant<BodyForm>('length') },
  { weight: 1, arbitrary: fc.constantFrom<BodyForm>('chunked', 'expect', 'large') },
)
const change = fc.record({ key, value: fc.option(value, { nil: undefined }) })

const request: fc.Arbitrary<PipelineRequest> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant('put'), key, value, condition, form }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('delete'), key, condition }) },
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constantFrom('get', 'head'),
      key,
      condition,
      query: fc.constantFrom('', '', '&linearizable=true'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('batch'), changes: fc.array(change, { minLength: 1, maxLength: 4 }) }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('range') }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('nowhere') }) },
)

/** Requests that a client sends at once, and the positions at which the text is cut (0 to 1, of its length). */
export const pipelineArbitrary = fc.record({
  requests: fc.array(request, { minLength: 2, maxLength: 40 }),
  cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 }),
})

const HOST_HEADER = 'host: 127.0.0.1\r\n'
const line = (condition: string) => (condition === '' ? '' : `${condition}\r\n`)
const addLength = (body: string) => `content-length: ${body.length}\r\n\r\n${body}`

/** Returns the value that a PUT stores. */
const toValue = ({ value, form }: PipelineRequest & { type: 'put' }) =>
  form === 'large' ? value.padEnd(LARGE_VALUE_BYTES, '.') : value

function putText(one: PipelineRequest & { type: 'put' }, target: string): string {
  const value = toValue(one)
  const head = `PUT ${target} HTTP/1.1\r\n${HOST_HEADER}${line(one.condition)}`
  if (one.form === 'expect' && value !== '') return `${head}expect: 100-continue\r\n${addLength(value)}`
  if (one.form !== 'chunked') return head + addLength(value)
  const chunk = value === '' ? '' : `${value.length.toString(16)}\r\n${value}\r\n`
  return `${head}transfer-encoding: chunked\r\n\r\n${chunk}0\r\n\r\n`
}

/** Returns the text of a request on the wire. */
export function toRequestText(one: PipelineRequest, prefix: string): string {
  const target = 'key' in one ? `/v0/entity?id=${prefix}${one.key}` : ''
  switch (one.type) {
    case 'put':
      return putText(one, target)
    case 'delete':
      return `DELETE ${target} HTTP/1.1\r\n${HOST_HEADER}${line(one.condition)}\r\n`
    case 'get':
    case 'head':
      return `${one.type.toUpperCase()} ${target}${one.query} HTTP/1.1\r\n${HOST_HEADER}${line(one.condition)}\r\n`
    case 'batch':
      return `POST /v0/batch HTTP/1.1\r\n${HOST_HEADER}${addLength(one.changes.map((each) => toChangeLine(each, prefix)).join(''))}`
    case 'range':
      return `GET /v0/entities?start=${prefix}&end=${prefix}~ HTTP/1.1\r\n${HOST_HEADER}accept: application/x-ndjson\r\n\r\n`
    case 'nowhere':
      return `POST /nowhere HTTP/1.1\r\n${HOST_HEADER}content-length: 0\r\n\r\n`
  }
}

function toChangeLine({ key, value }: PipelineChange, prefix: string): string {
  const id = prefix + key
  return `${JSON.stringify(value === undefined ? { op: 'delete', id } : { op: 'put', id, value })}\n`
}

/** Returns the replies of a server that executes requests one after another: a status, and a body if it matters. */
export function computeReplies(requests: readonly PipelineRequest[], prefix: string): string[] {
  const values = new Map<string, string>()

  function isConditionMet(condition: string, key: string): boolean {
    if (condition === 'if-match: *') return values.has(key)
    if (condition === 'if-none-match: *') return !values.has(key)
    return condition === ''
  }

  function readReply(one: PipelineRequest & { type: 'get' | 'head' }): string {
    const value = values.get(one.key)
    if (one.condition.startsWith('if-match') && !isConditionMet(one.condition, one.key)) return '412'
    if (value === undefined) return '404'
    if (one.condition === 'if-none-match: *') return '304'
    return one.type === 'head' ? `200 ${value.length}` : `200 ${value}`
  }

  function reply(one: PipelineRequest): string {
    switch (one.type) {
      case 'put':
        if (!isConditionMet(one.condition, one.key)) return '412'
        values.set(one.key, toValue(one))
        return '201'
      case 'delete':
        if (!isConditionMet(one.condition, one.key)) return '412'
        values.delete(one.key)
        return '202'
      case 'get':
      case 'head':
        return readReply(one)
      case 'batch':
        for (const { key, value } of one.changes) {
          if (value === undefined) values.delete(key)
          else values.set(key, value)
        }
        return `200 ${JSON.stringify({ applied: one.changes.length })}`
      case 'range': {
        const entries = [...values].sort(([a], [b]) => (a < b ? -1 : 1))
        return `200 ${entries.map(([key, value]) => toChangeLine({ key, value }, prefix)).join('')}`
      }
      case 'nowhere':
        return '404'
    }
  }

  return requests.map(reply)
}
