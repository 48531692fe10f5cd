import { SERVERS } from '@influencer-stats/runtime/settings'
import { expectAllRefused, expectRefusals, type Refusal } from '@influencer-stats/runtime/testing/refusals'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { it, onTestFinished } from 'vitest'
import { startStats } from './support/stats.ts'

const UNUSED_URL = 'http://127.0.0.1:9'
const VIDEO = '-4lB5EKS5Uk'
const ID = 'must be an id of 1 to 128 letters, digits and . _ ~ - such as spring'
const LINK = 'must be the id of a YouTube video such as -4lB5EKS5Uk, or a link to one'

const invalid = (method: string, target: string, body: unknown, ...detail: string[]): Refusal => ({
  request: [method, target, body],
  code: 'VALIDATION_FAILED',
  detail,
})
const put = (part: object, ...detail: string[]) => invalid('PUT', '/collections/c', { videos: [], ...part }, ...detail)
const patch = (part: object, ...detail: string[]) => invalid('PATCH', '/collections/c', part, ...detail)
const get = (target: string, ...detail: string[]) => invalid('GET', target, undefined, ...detail)

const bulk = (body: object, ...detail: string[]) => invalid('POST', '/campaigns/bulk', body, ...detail)
const post = (below: string, part: object, ...detail: string[]) =>
  invalid('POST', `/collections/c${below}`, part, ...detail)

const importLine = (line: string, ...detail: string[]): Refusal => ({
  request: ['POST', '/import', `\n${line}`, { 'content-type': 'application/x-ndjson' }],
  code: 'IMPORT_LINE_INVALID',
  detail: ['line 2: ', ...detail],
})

const refusals: Refusal[] = [
  put({ videos: 'x' }, 'body/videos must be an array of at most 1000 items; received "x"'),
  put(
    { videos: [VIDEO, 'https://vimeo.com/1?token=hunter2-secret'] },
    `body/videos/1 ${LINK}; received "https://vimeo.com/1?token=`,
  ),
  put({ videos: [VIDEO, 7] }, `body/videos/1 ${LINK}; received 7`),
  put({ videos: ['\u001b[31m'] }, `body/videos/0 ${LINK}; received "\\u001b[31m"`),
  put({ name: '' }, 'body/name must be a string of 1 to 200 whole characters (no NUL); received ""'),
  put({ tags: ['a', 5] }, 'body/tags/1 must be a string of 1 to 50 whole characters', 'received 5'),
  put({ from: '1.3.2026' }, 'body/from must be a date such as 2026-01-31; received "1.3.2026"'),
  put({ cost: -1 }, 'body/cost must be a number from 0 to 1000000000000000; received -1'),
  put({ currency: 'euro' }, 'body/currency must be one of ', 'received "euro"'),
  put(
    { colour: 'red' },
    'body has the unknown property "colour"; known: videos, name, tags, from, to, cost, fees, currency, sources, archived',
  ),
  invalid(
    'PUT',
    '/collections/c',
    {},
    'body must have the property "videos"; required: videos; received an empty object',
  ),
  invalid('PUT', '/collections/c', [], 'body must be an object; received an empty array'),
  invalid('PUT', '/collections/a%20b', { videos: [] }, `params/id ${ID}`, 'received "a b"'),
  {
    request: ['PUT', '/collections/c', '{"videos":hunter2-secret'],
    code: 'BAD_JSON',
    detail: ['body must be valid JSON', 'received 24'],
  },
  {
    request: ['PUT', '/collections/c', 'x', { 'content-type': 'text/csv' }],
    status: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
    detail: ['content-type must be application/json; received "text/csv"'],
  },
  {
    request: ['PUT', '/collections/c', { videos: [] }, { 'if-match': 'W/x' }],
    code: 'CONDITION_INVALID',
    detail: ['If-Match must be * or entity tags such as', 'received "W/x"'],
  },
  put({ fees: [{ creator: 'A' }] }, 'body/fees/0 must have the property "amount"'),
  put(
    { sources: [{ type: 'user', id: 'UCx' }] },
    'body/sources/0/type must be one of channel, playlist; received "user"',
  ),
  put({ sources: [{ type: 'channel', id: '@a' }] }, 'body/sources/0/id must be the id, the handle such as'),
  {
    request: ['PUT', '/collections/c', { videos: [], cost: 1, fees: [{ creator: 'A', amount: 1 }] }],
    status: 409,
    code: 'COST_AMBIGUOUS',
    detail: ['a campaign has either one cost or fees'],
  },
  invalid('POST', '/preview', {}, 'body must have the property "text"; required: text'),
  invalid('POST', '/preview', { text: 7 }, 'body/text must be a string of at most 131072 characters; received 7'),
  invalid('POST', '/preview', { text: '', id: 'c' }, 'body has the unknown property "id"; known: text'),
  invalid('POST', '/collections/a%20b/duplicate', {}, `params/id ${ID}`, 'received "a b"'),
  invalid('POST', '/collections/c/duplicate', { title: 'x' }, 'body has the unknown property "title"; known: name'),
  invalid('POST', '/collections/a%20b/preview', { text: '' }, `params/id ${ID}`, 'received "a b"'),
  {
    request: ['POST', '/collections/c/preview', { text: '' }],
    status: 404,
    code: 'COLLECTION_NOT_FOUND',
    detail: ['c'],
  },
  {
    request: ['POST', '/campaigns/import', 'one word', { 'content-type': 'text/csv' }],
    code: 'CAMPAIGN_FILE_INVALID',
    detail: ['the file must have headings such as Campaign, Link'],
  },
  {
    request: ['POST', '/campaigns/import', 'PK', { 'content-type': 'text/csv' }],
    code: 'CAMPAIGN_FILE_INVALID',
    detail: ['the file must be an XLSX file'],
  },
  {
    request: ['POST', '/campaigns/import', {}],
    status: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
    detail: ['content-type must be one of text/csv, ', 'received "application/json"'],
  },
  {
    request: ['POST', '/campaigns/import?dryRun=x', 'Link', { 'content-type': 'text/csv' }],
    code: 'VALIDATION_FAILED',
    detail: ['querystring/dryRun must be'],
  },
  {
    request: ['POST', '/campaigns/import', 'x'.repeat(4_194_305), { 'content-type': 'text/csv' }],
    status: 413,
    code: 'BODY_TOO_LARGE',
    detail: ['at most 4194304 bytes; received 4194305'],
  },
  get('/campaigns/export?format=json', 'querystring/format must be one of csv, xlsx; received "json"'),
  get('/trash?limit=0', 'querystring/limit must be an integer from 1 to ', 'received 0'),
  get('/trash?after=%20', `querystring/after ${ID}`, 'received " "'),
  get('/trash?q=x', 'unknown parameter "q"; known: limit, after'),
  invalid('POST', '/trash/a%20b/restore', undefined, `params/id ${ID}`, 'received "a b"'),
  invalid('DELETE', '/trash/a%20b', undefined, `params/id ${ID}`, 'received "a b"'),
  { request: ['DELETE', '/trash/c'], status: 404, code: 'NOT_IN_TRASH', detail: ['c'] },
  {
    request: ['POST', '/trash/c/restore', undefined, { 'if-match': 'W/x' }],
    code: 'CONDITION_INVALID',
    detail: ['If-Match must be * or entity tags such as', 'received "W/x"'],
  },
  {
    request: ['PUT', '/collections/c', { videos: [], from: '2026-02-01', to: '2026-01-01' }],
    status: 409,
    code: 'INVALID_DATE_RANGE',
    detail: ['from 2026-02-01 to 2026-01-01'],
  },
  post('/posts', { url: 'https://youtu.be/-4lB5EKS5Uk' }, 'body/url must be a link to a post of Instagram, TikTok, '),
  post(
    '/posts',
    { url: 'https://x.com/a/status/12345', platform: 'vimeo' },
    'body/platform must be one of instagram, ',
  ),
  post('/posts', {}, 'body must have the property "url"'),
  {
    request: ['PUT', '/collections/c/posts/p', { url: 'https://x.com/a/status/12345', platform: 'tiktok' }],
    status: 409,
    code: 'PLATFORM_MISMATCH',
    detail: ['the link is one of x; received tiktok'],
  },
  invalid('PUT', '/collections/c/posts/a%20b', { url: 'x' }, 'params/post must be an id of 1 to 128 letters'),
  invalid('DELETE', '/collections/c/posts/a%20b', undefined, 'params/post must be an id of 1 to 128 letters'),
  post('/posts/p/numbers', { views: -1 }, 'body/views must be an integer from 0 to 1000000000000000; received -1'),
  post('/posts/p/numbers', { views: 1, at: 'today' }, 'body/at must be a time such as 2026-01-31T12:00:00Z'),
  {
    request: ['POST', '/collections/c/posts/p/numbers', { note: 'x' }],
    status: 409,
    code: 'NO_NUMBERS',
    detail: ['one of views, likes, comments, shares, saves is needed'],
  },
  invalid(
    'DELETE',
    '/collections/c/posts/p/numbers/today',
    undefined,
    'params/at must be a time such as 2026-01-31T12:00:00Z',
  ),
  get('/collections/c/reported/history?step=0', 'querystring/step must be an integer from 1 to 2592000; received 0'),
  {
    request: ['POST', '/collections/c/reported/numbers', 'hello', { 'content-type': 'text/csv' }],
    code: 'VALIDATION_FAILED',
    detail: ['body must have a row of headings such as url,views,likes,at'],
  },
  {
    request: ['POST', '/collections/c/reported/numbers', {}],
    status: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
    detail: ['content-type must be text/csv'],
  },
  patch({ name: 7 }, 'body/name must be a string of 1 to 200 whole characters (no NUL) or null; received 7'),
  patch({ tags: [''] }, 'body/tags/0 must be a string of 1 to 50 whole characters', 'received ""'),
  patch({ nmae: 'x' }, 'unknown property "nmae"; known: videos, name'),
  get('/collections?limit=0', 'querystring/limit must be an integer from 1 to ', 'received 0'),
  get('/collections?sort=size', 'querystring/sort must be one of id, ', 'received "size"'),
  get('/collections?after=%20', 'querystring/after must be "next" of the page before', 'received " "'),
  get('/collections?include=x', 'querystring/include must be ', 'received "x"'),
  get(
    '/collections?order=x',
    'unknown parameter "order"; known: limit, after, offset, archived, include, sort, q, tag',
  ),
  get('/collections?offset=-1', 'querystring/offset must be an integer from 0 to 1000000; received -1'),
  get('/collections?archived=yes', 'querystring/archived must be one of false, true, any; received "yes"'),
  bulk({ change: { deleted: true } }, 'body must have the property "ids"'),
  bulk({ ids: [], change: { deleted: true } }, 'body/ids must be an array of 1 to 500 items; received an empty array'),
  bulk({ ids: ['a b'], change: { deleted: true } }, `body/ids/0 ${ID}`, 'received "a b"'),
  bulk({ ids: ['a', 'a'], change: { deleted: true } }, 'body/ids must NOT have duplicate items'),
  bulk({ ids: ['a'], change: {} }, 'body/change must '),
  bulk({ ids: ['a'], change: { deleted: false } }, 'body/change', 'deleted'),
  bulk({ ids: ['a'], change: { deleted: true, archived: true } }, 'body/change'),
  bulk({ ids: ['a'], change: { addTags: [''] } }, 'body/change'),
  bulk({ ids: ['a'], change: { deleted: true }, versions: { a: 7 } }, 'body/versions/a must be a string; received 7'),
  {
    request: ['GET', '/collections?sort=name&after=x'],
    status: 409,
    code: 'INVALID_CURSOR',
    detail: ['querystring/after must be "next" of the page before with sort=name; received "x"'],
  },
  get('/collections/c?include=x', 'querystring/include must be ', 'received "x"'),
  get('/collections?include=creators', 'querystring/include must be ', 'received "creators"'),
  get('/creators?limit=201', 'querystring/limit must be an integer from 1 to 200; received 201'),
  get('/creators?sort=size', 'querystring/sort must be one of name, ', 'received "size"'),
  get('/creators?after=%20', 'querystring/after must be "next" of the page before', 'received " "'),
  get(`/creators?q=${'x'.repeat(201)}`, 'querystring/q must be a string of at most 200 characters'),
  get('/creators?tag=x', 'unknown parameter "tag"; known: limit, after, sort, q'),
  get(`/creators/${'x'.repeat(201)}`, 'params/id must be a string of 1 to 200 characters'),
  {
    request: ['GET', '/creators?sort=name&after=x'],
    status: 409,
    code: 'INVALID_CURSOR',
    detail: ['querystring/after must be "next" of the page before with sort=name; received "x"'],
  },
  { request: ['GET', '/creators/nobody'], status: 404, code: 'CREATOR_NOT_FOUND', detail: ['nobody'] },
  get('/collections/a%20b/sources', `params/id ${ID}`, 'received "a b"'),
  { request: ['GET', '/collections/none/sources'], status: 404, code: 'COLLECTION_NOT_FOUND', detail: ['none'] },
  get('/collections/c/stats?by=tag', 'querystring/by must be "video"; received "tag"'),
  get('/collections/c/stats?x=1', 'unknown parameter "x"; known: by'),
  get('/collections/c/export?format=xml', 'querystring/format must be one of json, csv; received "xml"'),
  get(
    '/collections/c/stats/history?from=yesterday',
    'querystring/from must be a time such as 2026-01-31T12:00:00Z; received "yesterday"',
  ),
  get(
    '/collections/c/stats/history?step=0',
    'querystring/step must be an integer from 1 to 2592000 or "day"; received "0"',
  ),
  get(
    '/collections/c/stats/history?zone=%2B02:00',
    'querystring/zone must be the name of a time zone',
    'received "+02:00"',
  ),
  get('/collections/c/results?from=2026-02-30', 'querystring/from must be ', 'received "2026-02-30"'),
  get('/collections/c/results?to=tomorrow', 'querystring/to must be ', 'received "tomorrow"'),
  get('/collections/c/results?step=day', 'unknown parameter "step"; known: from, to, zone'),
  { request: ['GET', '/collections/c/results?zone=Mars'], code: 'ZONE_UNKNOWN', detail: ['Mars'] },
  get(`/collections/c/videos/${VIDEO}/history?step=1h`, 'querystring/step must be ', 'received "1h"'),
  get(
    '/collections/c/videos/x/history',
    'params/video must be the id of a YouTube video such as -4lB5EKS5Uk',
    'received "x"',
  ),
  invalid('PUT', '/collections/c/videos/x', undefined, `params/video ${LINK}; received "x"`),
  invalid(
    'DELETE',
    '/collections/c/videos/x',
    undefined,
    'params/video must be the id of a YouTube video',
    'received "x"',
  ),
]

const importRefusals: Refusal[] = [
  importLine('{"type":', 'it must be JSON; received "{\\"type\\":"'),
  importLine('{"type":"x"}', 'line/type must be one of usage, details, point, record, collection; received "x"'),
  importLine('{"type":"record","kind":"x","key":"a","value":{}}', 'line/kind must be one of channel, '),
  importLine(
    '{"type":"record","kind":"channel","key":"a","value":{}}',
    'line/source must be present for the kind channel',
  ),
  importLine('{"type":"record","kind":"post","key":"a b","value":{}}', 'line/key must '),
  importLine(
    '{"type":"record","kind":"post","key":"a/p","value":{"platform":"x","url":"u","revision":1,"points":0,"last":{}}}',
    'line/value/last must have the property "at"',
  ),
  importLine('{"type":"collection","numbers":{}}', 'line must have the property "collection"'),
]

it.each(SERVERS)('every refusal names the field, the allowed and the received value, served by %s', async (server) => {
  const stats = await startStats({ youtubeUri: UNUSED_URL, data: createTemporaryFolder(), threads: 1, server })
  onTestFinished(async () => void (await stats.stop()))
  await expectRefusals(stats.url, [...refusals, ...importRefusals])
  await expectAllRefused(stats.url, [...refusals, ...importRefusals])
})
