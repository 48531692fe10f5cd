import { SERVERS } from '@influencer-stats/runtime/settings'
import { expectAllRefused, expectRefusals, type Refusal } from '@influencer-stats/runtime/testing/refusals'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { expect, it, onTestFinished } from 'vitest'
import { createPrice, startPrices } from './support/prices.ts'

const { id, ...price } = createPrice({ charValues: [{ char: 'term', value: '12' }] })
const { offeringId, groupId, priceSpecId } = price
const names = { offeringId, groupId, priceSpecId }
const SEARCH = '/v1/search/bitmap/prices'
const BULK = '/v5/search/bitmap/bulk/prices'
const OPERATORS = 'must be one of equals, not, in, notIn, between'
const END = 'must be a string of 1 to 256 characters or a number from -9007199254740991 to 9007199254740991'
const VALUE =
  'must be a string of 1 to 256 characters, an integer from -9007199254740991 to 9007199254740991, true or false or an object such as {"from":10,"to":99}'
const LINES = { 'content-type': 'application/x-ndjson' }

const invalid = (method: string, target: string, body: unknown, ...detail: string[]): Refusal => ({
  request: [method, target, body],
  code: 'VALIDATION_FAILED',
  detail,
})
const search = (part: object, ...detail: string[]) =>
  invalid('POST', SEARCH, { ...names, charValues: [], ...part }, ...detail)
const condition = (one: unknown, ...detail: string[]) => search({ charValues: [one] }, ...detail)
const put = (part: object, ...detail: string[]) => invalid('PUT', `/prices/${id}`, { ...price, ...part }, ...detail)
const line = (part: string | object, ...detail: string[]): Refusal => ({
  request: [
    'POST',
    '/prices/import',
    `${JSON.stringify({ id, ...price })}\n${typeof part === 'string' ? part : JSON.stringify({ id, ...price, ...part })}`,
    LINES,
  ],
  code: 'BAD_LINE',
  detail: ['line 2: ', ...detail],
})

const refusals: Refusal[] = [
  condition({ char: 'term', op: 'like', value: 'x' }, 'body/charValues/0/op', OPERATORS, 'received "like"'),
  condition({ char: 'term', op: 'like', value: ['x', true] }, 'body/charValues/0/op', OPERATORS, 'received "like"'),
  condition({ char: 'term', op: 'in', value: ['x', null] }, 'body/charValues/0/value/1', VALUE, 'received null'),
  condition({ char: 'term', op: 'between', value: [true, 2] }, 'body/charValues/0/value/0', END, 'received true'),
  condition({ char: 'term', op: 7, value: 'x' }, 'body/charValues/0/op', OPERATORS, 'received 7'),
  condition({ char: 'term', value: null }, 'body/charValues/0/value', VALUE, 'received null'),
  condition({ char: 'term', op: 'in', value: 'x' }, 'body/charValues/0/value must be an array', 'received "x"'),
  condition(
    { char: 'term', op: 'between', value: [1] },
    'body/charValues/0/value must be an array of 2 items; received [1]',
  ),
  condition(
    { char: 'term', valeu: 1 },
    'body/charValues/0 must have the property "value"',
    'received an object with char, valeu',
  ),
  condition({ char: 'term', value: 1, x: 1 }, 'unknown property "x"', 'known: char, op, value'),
  search(
    { at: '2026-02-30' },
    'body/at must be now, a date such as 2026-01-31 or a time such as 2026-01-31T18:00+01:00; received "2026-02-30"',
  ),
  search({ offering: 'x' }, 'unknown property "offering"', 'known: offeringId, groupId'),
  search({ explain: 'yes' }, 'body/explain must be true or false; received "yes"'),
  search({ charValues: {} }, 'body/charValues must be an array', 'received an empty object'),
  invalid(
    'POST',
    SEARCH,
    {},
    'body must have the property "offeringId"',
    'required: offeringId, groupId, priceSpecId, charValues',
  ),
  invalid('POST', `${SEARCH}?al=true`, {}, 'unknown parameter "al"', 'known: all, limit, sort, after'),
  invalid('POST', `${SEARCH}?all=yes`, {}, 'querystring/all must be true or false; received "yes"'),
  invalid('POST', `${SEARCH}?all=true&limit=0`, {}, 'querystring/limit must be an integer of at least 1; received 0'),
  invalid(
    'POST',
    `${SEARCH}?all=true&after=%0A`,
    {},
    'querystring/after must be a text without control characters',
    'received "\\u000a"',
  ),
  {
    request: ['POST', `${SEARCH}?limit=5`, { ...names, charValues: [] }],
    status: 409,
    code: 'INCOMPATIBLE_PARAMETERS',
    detail: ['limit, after, sort and afterValue need all=true; received all=false and limit'],
  },
  {
    request: ['POST', SEARCH, '{"offeringId":hunter2-secret'],
    code: 'BAD_JSON',
    detail: ['body must be valid JSON', 'received 28 characters'],
  },
  { request: ['POST', SEARCH, ''], code: 'BAD_JSON', detail: ['body must be valid JSON; received no text'] },
  {
    request: ['POST', SEARCH, 'x', { 'content-type': 'text/plain' }],
    status: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
    detail: ['content-type must be application/json; received "text/plain"'],
  },
  {
    request: ['POST', SEARCH, { ...names, charValues: [{ char: 'term', value: 5 }] }],
    code: 'VALUE_TYPE',
    detail: ['term must be of type', 'received 5'],
  },
  {
    request: ['POST', '/v1/search/x/prices', { ...names, charValues: [] }],
    status: 404,
    code: 'INDEX_NOT_LOADED',
    detail: ['index must be one of bitmap, roaring-offering; received "x"'],
  },
  {
    request: ['POST', BULK, 'x', { 'content-type': 'text/plain' }],
    status: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
    detail: ['must be one of application/json, application/x-ndjson; received "text/plain"'],
  },
  {
    request: ['POST', BULK, '7', LINES],
    code: 'BAD_JSON',
    detail: ['item 1, at byte 0, must be a JSON object, or an array of objects; received "7"'],
  },
  put({ value: true }, 'body/value must be a number or a string', 'received true'),
  put({ currency: 'eur' }, 'body/currency must be a code of 3 capital letters such as USD; received "eur"'),
  put(
    { from: '1.1.2026' },
    'body/from must be a date such as 2026-01-31 or a time such as 2026-01-31T18:00+01:00; received "1.1.2026"',
  ),
  invalid('PATCH', `/prices/${id}`, { value: null }, 'body/value must be a number or a string', 'received null'),
  put({ default: 1 }, 'body/default must be true or false; received 1'),
  put({ colour: 'x' }, 'unknown property "colour"', 'known: id, offeringId'),
  put({ charValues: [{ char: 'term', value: null }] }, 'body/charValues/0/value', 'an integer from', 'received null'),
  put({ offeringId: '' }, 'body/offeringId must be a string of 1 to 256 whole characters', 'received ""'),
  invalid('PUT', '/prices/a%0Ab', price, 'params/id must be a text without control characters', 'received "a\\u000ab"'),
  invalid(
    'PUT',
    '/prices/a%C2%85',
    price,
    'params/id must be a text without control characters',
    'received "a\\u0085"',
  ),
  invalid(
    'GET',
    '/prices/a%0Ab',
    undefined,
    'params/id must be a text without control characters',
    'received "a\\u000ab"',
  ),
  invalid('GET', `/prices/${id}?x=1`, undefined, 'unknown parameter "x"', 'known: sequence, linearizable'),
  invalid(
    'GET',
    `/prices/${id}?sequence=-1`,
    undefined,
    'querystring/sequence must be an integer from 0 to 999999999999999; received -1',
  ),
  invalid(
    'DELETE',
    '/prices/a%0Ab',
    undefined,
    'params/id must be a text without control characters',
    'received "a\\u000ab"',
  ),
  {
    request: ['PUT', `/prices/${id}`, { ...price, id: '00000000-0000-4000-8000-00000000ffff' }],
    status: 409,
    code: 'ID_MISMATCH',
    detail: [`body/id must be absent or ${id}`, 'received "00000000-0000-4000-8000-00000000ffff"'],
  },
  invalid('GET', '/prices?limit=x', undefined, 'querystring/limit must be an integer of at least 1; received "x"'),
  invalid('GET', '/prices?from=x', undefined, 'unknown parameter "from"', 'known: after, limit'),
  {
    request: ['POST', '/prices/import?replace=yes', '\n', LINES],
    code: 'VALIDATION_FAILED',
    detail: ['querystring/replace must be true or false; received "yes"'],
  },
  line({ colour: 'red' }, 'price has the unknown property "colour"', 'known: id, offeringId'),
  line({ colour: 'red', hue: 7 }, 'unknown property "colour"'),
  line(
    { charValues: [{ char: 'term', value: '12', unit: 'm' }] },
    'price/charValues/0 has the unknown property "unit"',
  ),
  line({ charValues: [{ char: 'term', value: null }] }, 'price/charValues/0/value must be a string', 'an integer from'),
  line({ value: null }, '/value must be a number or a string', 'received null'),
  line({ id: 'import' }, 'price/id must be a text', 'other than "import"; received "import"'),
  put({ id: 'import' }, 'body/id must be a text', 'other than "import"; received "import"'),
  line({ id: 'a\nb' }, '/id must be a text without control characters', 'received "a\\u000ab"'),
  line(
    { from: '2026-02-30' },
    '/from must be a date such as 2026-01-31 or a time such as 2026-01-31T18:00+01:00; received "2026-02-30"',
  ),
  line('{"token":hunter2-secret}', 'price must be valid JSON', 'received 24 characters'),
  line('7', 'price must be an object; received 7'),
  {
    request: ['POST', '/prices/import', 'x', { 'content-type': 'text/plain' }],
    status: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
    detail: ['content-type must be one of application/x-ndjson, text/csv; received "text/plain"'],
  },
  {
    request: ['POST', '/prices/import', 'id,colour', { 'content-type': 'text/csv' }],
    code: 'BAD_LINE',
    detail: ['line 1: must have the column "offeringId"'],
  },
  invalid('GET', '/prices?format=xml', undefined, 'querystring/format must be one of ndjson, csv; received "xml"'),
  invalid('GET', '/facets?limit=201', undefined, 'querystring/limit must be an integer from 1 to 200; received 201'),
  invalid(
    'GET',
    '/facets?facet=x',
    undefined,
    'querystring/facet must be one of offerings, groups, specs, characteristics; received "x"',
  ),
  invalid('GET', '/facets?charValues={', undefined, 'querystring/charValues must be valid JSON', 'received 1 char'),
  invalid(
    'GET',
    '/facets?charValues=[{"char":"term","op":"x","value":1}]',
    undefined,
    'querystring/charValues/0/op',
    OPERATORS,
    'received "x"',
  ),
  invalid('DELETE', '/prices?x=1', undefined, 'unknown parameter "x"', 'known: offeringId'),
  invalid(
    'DELETE',
    '/prices?offeringId=o1&dryRun=no',
    undefined,
    'querystring/dryRun must be true or false; received "no"',
  ),
  { request: ['DELETE', '/prices?dryRun=false'], code: 'CONDITION_MISSING', detail: ['must have a condition'] },
  invalid('GET', '/facets?x=1', undefined, 'unknown parameter "x"', 'known: offeringId'),
  {
    request: ['GET', '/facets?char=term&facet=groups'],
    status: 409,
    code: 'INCOMPATIBLE_PARAMETERS',
    detail: ['either facet or char must be given; received both'],
  },
]

it.each(SERVERS)('every refusal names the field, the allowed and the received value, served by %s', async (server) => {
  const prices = await startPrices({ data: createTemporaryFolder(), threads: 1, server })
  onTestFinished(async () => void (await prices.stop()))
  expect((await prices.request('PUT', `/prices/${id}`, price)).status).toBe(201)
  await expectRefusals(prices.url, refusals)
  await expectAllRefused(prices.url, refusals)
})

it.each(SERVERS)('the path of imports accepts no other method, served by %s', async (server) => {
  const prices = await startPrices({ data: createTemporaryFolder(), threads: 1, server })
  onTestFinished(async () => void (await prices.stop()))
  for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
    for (const body of method === 'GET' || method === 'HEAD' ? [undefined] : [undefined, price, 'x']) {
      const { status, headers } = await prices.request(method, '/prices/import?x=1', body)
      expect([method, body, status, headers.get('allow')]).toEqual([method, body, 405, 'POST'])
    }
})

it('an item of a bulk search names the same', async () => {
  const prices = await startPrices({ data: createTemporaryFolder(), threads: 1 })
  onTestFinished(async () => void (await prices.stop()))
  const items = [
    { id: 'a', ...names, charValues: [{ char: 'term', op: 'like', value: 1 }] },
    { id: 'b', ...names, charValues: [{ char: 'term', value: null }] },
    { id: 'c', ...names },
    { ...names, charValues: [] },
  ]
  const answers = await prices.searchBulk(items.map((item) => JSON.stringify(item)).join('\n'))
  expect(answers.map(({ error }) => error.message)).toEqual([
    `item/charValues/0/op ${OPERATORS}; received "like"`,
    `item/charValues/0/value ${VALUE}; received null`,
    expect.stringContaining('item must have the property "charValues"'),
    expect.stringContaining('item must have the property "id"'),
  ])
})
