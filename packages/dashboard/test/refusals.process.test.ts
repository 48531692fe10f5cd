import { embed } from '@influencer-stats/runtime/embed'
import { expectAllRefused, expectRefusals, type Refusal } from '@influencer-stats/runtime/testing/refusals'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { it, onTestFinished } from 'vitest'
import { dashboard } from '../src/service.ts'
import { UNREACHABLE_URL } from './support/fake-service.ts'

const ID = 'must be an id of 1 to 128 letters, digits and . _ ~ - such as spring, other than . and ..'

const invalid = (method: string, target: string, body: unknown, ...detail: string[]): Refusal => ({
  request: [method, target, body],
  code: 'VALIDATION_FAILED',
  detail,
})

const refusals: Refusal[] = [
  invalid('POST', '/session', {}, 'body must have the property "token"', 'received an empty object'),
  invalid(
    'POST',
    '/session',
    { token: ['hunter2-secret'] },
    'body/token must be a string of 1 to 1000 characters',
    'not shown',
  ),
  invalid('POST', '/session', { token: `hunter2-secret${'x'.repeat(1_000)}` }, 'body/token', 'not shown'),
  invalid('POST', '/session', { tokn: 'hunter2-secret' }, '"token"', 'received an object with tokn'),
  invalid('POST', '/session', '"hunter2"', 'body must be an object'),
  { request: ['POST', '/session', '{"token":hunter2-secret}'], code: 'BAD_JSON', detail: ['body must be valid JSON'] },
  invalid('POST', '/links', { campaign: 'a b' }, `body/campaign ${ID}; received "a b"`),
  invalid('POST', '/links', { campaign: 'a', days: 366 }, 'body/days must be an integer from 1 to 365; received 366'),
  invalid('POST', '/links', { campaign: 'a', day: 3 }, 'unknown property "day"; known: campaign, days'),
  invalid('GET', '/links?limit=0', undefined, 'querystring/limit must be an integer from 1 to 1000; received 0'),
  invalid('GET', '/links?campaign=%20', undefined, `querystring/campaign ${ID}; received " "`),
  invalid('POST', '/views', { sort: 'name' }, 'body must have the property "name"'),
  invalid('POST', '/views', { name: ' a' }, 'body/name must be a name without spaces around it; received " a"'),
  invalid('POST', '/views', { name: 'a', sort: '--x' }, 'body/sort must be an order such as name or -impressions'),
  invalid('POST', '/views', { name: 'a', archived: false }, 'body/archived must be true; received false'),
  invalid('GET', '/links?x=1', undefined, 'unknown parameter "x"; known: campaign, limit, after'),
]

it('every refusal names the field, the allowed and the received value, and no token', async () => {
  const { url, stop } = await embed(dashboard, {
    data: createTemporaryFolder(),
    statsUri: UNREACHABLE_URL,
    sseUri: UNREACHABLE_URL,
    demo: 'off',
  })
  onTestFinished(async () => void (await stop()))
  await expectRefusals(url, refusals)
  await expectAllRefused(url, refusals)
})
