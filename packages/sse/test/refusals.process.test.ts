import { SERVERS } from '@influencer-stats/runtime/settings'
import { expectAllRefused, expectRefusals, type Refusal } from '@influencer-stats/runtime/testing/refusals'
import { it } from 'vitest'
import { MERCURE, signAll, toBearerHeader } from './support/sign-tokens.ts'
import { startSse } from './support/test-sse.ts'

const HUB = '/.well-known/mercure'
const TOPIC = 'must be a string of 1 to 256 whole characters (no NUL)'
const FLAG = 'must be one of 0, 1; received "x"'
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

const invalid = (method: string, target: string, ...detail: string[]): Refusal => ({
  request: [method, target],
  code: 'VALIDATION_FAILED',
  detail,
})
const values = (body: unknown, ...detail: string[]): Refusal => ({
  request: ['POST', '/values', body],
  code: 'VALIDATION_FAILED',
  detail,
})
const subscribe = (query: string, ...detail: string[]): Refusal => ({
  request: ['GET', `${HUB}?${query}`],
  code: 'INVALID_MATCHER',
  detail,
})
const publish = (form: string, ...detail: string[]): Refusal => ({
  request: ['POST', HUB, form, FORM],
  code: 'INVALID_UPDATE',
  detail,
})

const importLine = (line: string, ...detail: string[]): Refusal => ({
  request: ['POST', '/import', `{"at":1,"topic":"a","value":"1"}\n${line}`, { 'content-type': 'application/x-ndjson' }],
  code: 'IMPORT_LINE_INVALID',
  detail: ['line 2: ', ...detail],
})

const plainRefusals: Refusal[] = [
  invalid('GET', '/put', 'querystring must have the parameter "v"', 'received an empty object'),
  invalid('GET', '/put?v=1&topci=a', 'unknown parameter "topci"; known: v, topic'),
  invalid('GET', '/put?v=1&topic=', `querystring/topic ${TOPIC}; received ""`),
  invalid('GET', '/put?v=%zz', 'querystring: "v" must be percent-encoded UTF-8 such as a%20b; received "%zz"'),
  invalid('GET', '/put?token=hunter2-secret%zz', '"token" must be percent-encoded UTF-8', 'not shown'),
  invalid('GET', '/put?=1', 'querystring: each parameter must have the form name=value; received no name'),
  invalid('POST', '/put?x=1', 'unknown parameter "x"; known: v, topic'),
  {
    request: ['POST', '/put?v=1', '2'],
    status: 409,
    code: 'DUPLICATE_VALUE',
    detail: ['either v or a body', 'received both'],
  },
  {
    request: ['POST', `/put?topic=${encodeURIComponent(`${HUB}/x`)}`, '2'],
    status: 403,
    code: 'HUB_TOPIC',
    detail: ['topic must not be', 'received a topic of the hub'],
  },
  values([{ value: 'a' }, { value: 1 }], 'body/1/value must be a string of whole characters; received 1'),
  values([{ topic: 'a', value: 'a', ttl: 1 }], 'body/0 has the unknown property "ttl"; known: topic, value'),
  values([{ topic: 'a' }], 'body/0 must have the property "value"', 'received an object with topic'),
  values([{ topic: '', value: 'a' }], `body/0/topic ${TOPIC}; received ""`),
  values([], 'body must be an array of 1 to 1000 items; received an empty array'),
  values({ value: 'a' }, 'body must be an array of 1 to 1000 items; received an object with value'),
  {
    request: ['POST', '/values', '[{"token":hunter2-secret'],
    code: 'BAD_JSON',
    detail: ['body must be valid JSON', 'received 24'],
  },
  {
    request: ['POST', '/values', 'x', { 'content-type': 'text/plain' }],
    status: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
    detail: ['content-type must be application/json; received "text/plain"'],
  },
  invalid('GET', '/value?topics=a', 'unknown parameter "topics"; known: topic'),
  invalid('GET', '/value?topic=a&topic=b', `querystring/topic ${TOPIC}; received ["a", "b"]`),
  invalid('GET', '/wait?named=x', `querystring/named ${FLAG}`),
  invalid('GET', '/wait?last=x', `querystring/last ${FLAG}`),
  invalid('GET', '/wait?topic=', 'querystring/topic', 'of 1 to 256 whole characters', 'received ""'),
  invalid('GET', '/wait?topic=a&topic=', 'querystring/topic/1', 'of 1 to 256 whole characters', 'received ""'),
  invalid('GET', '/wait?_=%zz', 'querystring: "_" must be percent-encoded UTF-8', 'received "%zz"'),
  invalid('GET', `/wait?access_token=hunter2-secret${'x'.repeat(5_000)}`, 'querystring/access_token', 'not shown'),
  invalid('GET', '/connections?x=1', 'unknown parameter "x"; no parameters are allowed'),
  invalid('POST', '/closeall?x=1', 'unknown parameter "x"; no parameters are allowed'),
]

const importRefusals: Refusal[] = [
  importLine('{"at":', 'it must be JSON; received "{\\"at\\":"'),
  importLine('{"at":1,"topic":"a"}', 'line must have the property "value"', 'received an object with at, topic'),
  importLine('{"at":-1,"topic":"a","value":"1"}', 'line/at must be an integer', 'received -1'),
]

const hubRefusals: Refusal[] = [
  subscribe('', '`match` or `match_urlpattern` must be given', 'received none'),
  subscribe('match_regex=a', '"match_regex" is an unknown matcher; known: match, match_exact, match_urlpattern'),
  subscribe('match=', '`match` must be 1 to 1024 visible characters such as news; received ""'),
  subscribe('match=%00', '`match` must be 1 to 1024 visible characters', 'received "\\u0000"'),
  subscribe('match_urlpattern=/a/(b)', '`match_urlpattern` must be a URL pattern', 'received "/a/(b)"'),
  subscribe('match=%zz', 'query: "match" must be percent-encoded UTF-8', 'received "%zz"'),
  {
    request: ['GET', `${HUB}?match=a&authorization=hunter2-secret`],
    code: 'INVALID_REQUEST',
    detail: ['received it in the address'],
  },
  publish('data=1', '`topic` must be given, such as topic=news; received no value'),
  publish('topic=*', '`topic` must be 1 to 1024 visible characters', 'not *', 'received "*"'),
  publish('topic=a&data=1&data=2', '`data` must be given once', 'received 2 values'),
  publish('topic=a&retry=soon', '`retry` must be a whole number', 'such as 2000; received "soon"'),
  publish('topic=a&type=mercure', '`type` must be at most 256 visible characters, not "mercure"; received "mercure"'),
  publish('topic=a&id=%23x', '`id` must be at most 256 visible characters', 'received "#x"'),
  publish('topic=%zz', 'body: "topic" must be percent-encoded UTF-8', 'received "%zz"'),
  {
    request: ['POST', HUB, 'x', { 'content-type': 'text/plain' }],
    status: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
    detail: ['content-type must be application/x-www-form-urlencoded; received "text/plain"'],
  },
]

it.each(SERVERS)('every refusal names the field, the allowed and the received value, served by %s', async (server) => {
  const sse = await startSse({ server, ...MERCURE, mercureAnonymous: 'on', apiToken: 'change' })
  const authorization = { authorization: 'Bearer change' }
  await expectRefusals(sse.url, [...plainRefusals, ...importRefusals], authorization)
  // The cookie of the other requests would be a second credential.
  const bearer = toBearerHeader(await signAll())
  await expectRefusals(sse.url, hubRefusals, bearer)
  await expectAllRefused(sse.url, [...plainRefusals, ...hubRefusals, ...importRefusals])
})
