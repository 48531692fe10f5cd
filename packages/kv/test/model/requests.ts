import type { HttpRequest } from './connection.ts'
import { encodeQueryValue } from './encoding.ts'
import type {
  ModelBatch,
  BatchLine,
  Conditions,
  ConditionTags,
  ModelOperation,
  ModelRange,
  SetExpiry,
} from './operations.ts'
import type { SeededRandom } from '@influencer-stats/runtime/testing/seeded-random'

const NDJSON_TYPE = 'application/x-ndjson'
const OCTETS_TYPE = 'application/octet-stream'

function toHeader(tags: ConditionTags): string {
  if (tags === '*') return '*'
  return tags.map(({ tag, isWeak }) => (isWeak ? `W/${tag}` : tag)).join(', ')
}

function toConditionHeaders({ ifMatch, ifNoneMatch }: Conditions): Record<string, string> {
  return {
    ...(ifMatch && { 'if-match': toHeader(ifMatch) }),
    ...(ifNoneMatch && { 'if-none-match': toHeader(ifNoneMatch) }),
  }
}

/** Serializes to JSON, sometimes with escapes that JSON does not require. */
function toJson(value: unknown, random: SeededRandom): string {
  const text = JSON.stringify(value)
  if (random.percent(80)) return text
  return text.replaceAll(/[^\0-\u007f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function toLine(line: BatchLine, random: SeededRandom): string {
  if (line.op !== 'put') return toJson(line, random)
  const { id, value, isBase64, ttl, expiresAt } = line
  const content = isBase64 ? { valueBase64: value.toString('base64') } : { value: value.toString() }
  return toJson({ op: 'put', id, ...content, ttl, expiresAt }, random)
}

function toBatchBody({ lines, badLine }: ModelBatch, random: SeededRandom): Buffer {
  const texts = lines.map((line) => toLine(line, random))
  if (badLine) texts.splice(badLine.at, 0, badLine.text)
  return Buffer.from(texts.join(random.percent(20) ? '\n\n' : '\n') + (random.percent(50) ? '\n' : ''))
}

const KEY_PARAMETERS = ['prefix', 'start', 'end', 'cursor'] as const

function toRangeRequest(range: ModelRange, random: SeededRandom): HttpRequest {
  const { output, limit, reverse } = range
  const parameters = KEY_PARAMETERS.filter((name) => range[name] !== undefined).map(
    (name) => `${name}=${encodeQueryValue(range[name]!, random)}`,
  )
  if (limit !== undefined) parameters.push(`limit=${limit}`)
  if (reverse) parameters.push('reverse=true')
  if (output === 'keys' || output === 'count') parameters.push(`${output}=true`)
  const headers = { accept: output === 'chunks' ? OCTETS_TYPE : NDJSON_TYPE }
  return { method: 'GET', target: `/v0/entities?${parameters.join('&')}`, headers }
}

function toSetExpiryRequest(
  { key, ttl, expiresAt }: SetExpiry,
  headers: Record<string, string>,
  parameters: readonly string[],
  random: SeededRandom,
): HttpRequest {
  const isNever = ttl === undefined && expiresAt === undefined
  const time = ttl === undefined ? `expiresAt=${expiresAt}` : `ttl=${ttl}`
  const all = [`id=${encodeQueryValue(key, random)}`, ...parameters, ...(isNever ? [] : [time])]
  return { method: isNever ? 'DELETE' : 'PUT', target: `/v0/entity/expiry?${all.join('&')}`, headers }
}

/** Builds the request for an operation. Escapes, parameter order and body framing vary. */
export function toRequest(operation: ModelOperation, random: SeededRandom): HttpRequest {
  if (operation.type === 'refused') return operation
  if (operation.type === 'range') return toRangeRequest(operation, random)
  if (operation.type === 'get-many') {
    const body = Buffer.from(toJson({ ids: operation.ids }, random))
    return { method: 'POST', target: '/v0/entities/get', headers: { 'content-type': 'application/json' }, body }
  }
  if (operation.type === 'get-expiry')
    return { method: 'GET', target: `/v0/entity/expiry?id=${encodeQueryValue(operation.key, random)}` }
  const headers = toConditionHeaders(operation)
  if (operation.type === 'get' || operation.type === 'head') {
    const target = `/v0/entity?id=${encodeQueryValue(operation.key, random)}`
    return { method: operation.type.toUpperCase(), target, headers }
  }
  const parameters = operation.durable ? ['durable=true'] : []
  if (operation.type === 'set-expiry') return toSetExpiryRequest(operation, headers, parameters, random)
  if (operation.idempotencyKey) headers['idempotency-key'] = `"${operation.idempotencyKey}"`
  const framing = random.percent(3) ? { isChunked: true } : {}
  if (operation.type === 'batch') {
    const target = ['/v0/batch', ...parameters].join('?')
    headers['content-type'] = NDJSON_TYPE
    return { method: 'POST', target, headers, body: toBatchBody(operation, random), ...framing }
  }
  const id = `id=${encodeQueryValue(operation.key, random)}`
  const target = (all: readonly string[]) => `/v0/entity?${(random.percent(80) ? all : all.toReversed()).join('&')}`
  if (operation.type === 'delete') return { method: 'DELETE', target: target([id, ...parameters]), headers }
  if (operation.ttl !== undefined) parameters.push(`ttl=${operation.ttl}`)
  if (operation.prefersAsync) headers.prefer = 'respond-async'
  headers['content-type'] = OCTETS_TYPE
  return { method: 'PUT', target: target([id, ...parameters]), headers, body: operation.value, ...framing }
}
