import { expect, it } from 'vitest'
import { createMercureClient } from './support/mercure-client.ts'
import { MERCURE, signAll, toBearerHeader, toDetails } from './support/sign-tokens.ts'
import { startSse } from './support/test-sse.ts'

const ALL_DETAILS = toDetails({ publish: ['*'], subscribe: ['*'] })
const DETAIL = ALL_DETAILS[0]!
const MALFORMED_DETAILS: readonly (readonly [what: string, detail: unknown])[] = [
  ['no actions', { ...DETAIL, actions: undefined }],
  ['empty actions', { ...DETAIL, actions: [] }],
  ['actions that are no list', { ...DETAIL, actions: 'publish' }],
  ['an action that is no string', { ...DETAIL, actions: ['publish', 1] }],
  ['no topics', { ...DETAIL, topics: undefined }],
  ['empty topics', { ...DETAIL, topics: [] }],
  ['topics that are no list', { ...DETAIL, topics: { match: 'a' } }],
  ['a topic that is a string', { ...DETAIL, topics: [{ match: 'a' }, 'a'] }],
  ['a topic that is a list', { ...DETAIL, topics: [['a']] }],
  ['a topic without match', { ...DETAIL, topics: [{ match_type: 'exact' }] }],
  ['an empty match', { ...DETAIL, topics: [{ match: '' }] }],
  [
    'an unknown match_type of an unknown action',
    { ...DETAIL, actions: ['later'], topics: [{ match: 'a', match_type: 'x' }] },
  ],
  ['a payload that is no object', { ...DETAIL, payload: 'x' }],
  ['a text instead of a detail', 'publish'],
]

it('a token with a good detail and a malformed one is refused as a whole', async () => {
  const sse = await startSse({ ...MERCURE, mercureAnonymous: 'on' })
  const { post, subscribe } = createMercureClient(sse)
  const signDetails = async (...details: unknown[]) =>
    toBearerHeader(await signAll({ claims: { authorization_details: details } }))
  for (const [what, detail] of MALFORMED_DETAILS) {
    const header = await signDetails(...ALL_DETAILS, detail)
    const { status, headers, body } = await post([['topic', 'a']], header)
    expect({ what, status, code: body.code }).toEqual({ what, status: 401, code: 'INVALID_TOKEN' })
    expect(headers.get('www-authenticate')).toBe('Bearer error="invalid_token"')
    for (const stream of [...(await subscribe('?match=a', header)), ...(await sse.openBoth('', header))])
      expect({ what, status: stream.status }).toEqual({ what, status: 401 })
  }
  const unknown = [
    { type: 'https://other.example', actions: [] },
    { ...DETAIL, actions: ['later'], payload: { a: 1 } },
  ]
  expect((await post([['topic', 'a']], await signDetails(...ALL_DETAILS, ...unknown))).status).toBe(200)
})
