import { embed } from '@influencer-stats/runtime/embed'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { exportSPKI, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { sse as service } from '../src/service.ts'
import { RELAXED_RULES, reportRelaxedRules } from '../src/tokens/relaxed-rules.ts'
import { createMercureClient, HUB } from './support/mercure-client.ts'
import { MERCURE, sign, signAll, signLegacy, toBearerHeader, type LegacyClaim } from './support/sign-tokens.ts'
import { startSse } from './support/test-sse.ts'

const PUBLISHER_KEY = 'the key of publishers, 32 bytes long'
const SUBSCRIBER_KEY = 'the key of subscribers, 32 bytes long'
const LEGACY = {
  mercureCompatibility: '8',
  mercurePublisherJwtKey: PUBLISHER_KEY,
  mercureSubscriberJwtKey: SUBSCRIBER_KEY,
}

const toQuery = (...topics: string[]) => `?${topics.map((topic) => `topic=${encodeURIComponent(topic)}`).join('&')}`

async function startLegacyHub(settings: Record<string, string | number> = {}) {
  const sse = await startSse({ ...LEGACY, mercureAnonymous: 'on', ...settings })
  return {
    sse,
    token: await signLegacy(PUBLISHER_KEY, { publish: ['*'] }),
    signReader: (...subscribe: string[]) => signLegacy(SUBSCRIBER_KEY, { subscribe }),
    ...createMercureClient(sse),
  }
}

describe('a client of Mercure 0.x', () => {
  it('subscribes with topics, URI templates and `*`, also together with matchers of the draft', async () => {
    const { token, publish, subscribe } = await startLegacyHub()
    const streams = await subscribe(toQuery('a', 'https://x.example/books/{id}'))
    const all = await subscribe('?topic=*')
    const both = await subscribe('?topic=a&match=b&match_urlpattern=https://x.example/:kind/1')
    for (const topic of [
      'a',
      'b',
      'https://x.example/books/1',
      'https://x.example/books/1/2',
      'https://x.example/books/{id}',
    ])
      await publish(token, topic, topic, ['id', `urn:${topic}`])
    await publish(token, 'a', 'end', ['topic', 'b'])
    for (const [group, values] of [
      [streams, ['a', 'https://x.example/books/1', 'https://x.example/books/{id}', 'end']],
      [
        all,
        ['a', 'b', 'https://x.example/books/1', 'https://x.example/books/1/2', 'https://x.example/books/{id}', 'end'],
      ],
      [both, ['a', 'b', 'https://x.example/books/1', 'end']],
    ] as const) {
      for (const stream of group) {
        await waitUntil(() => stream.values.includes('end'))
        expect(stream.values).toEqual(values)
        expect(stream.events[0]!.lastEventId).toBe('urn:a')
      }
    }
    const none = await subscribe('')
    const long = await subscribe(toQuery(...Array.from({ length: 101 }, (_, i) => `{a}${i}`)))
    for (const { status } of [...none, ...long]) expect(status).toBe(400)
  })

  it('resumes with `lastEventID` or the header, and gets `Last-Event-ID` in the reply, also over a restart', async () => {
    const settings = { history: 'level', data: createTemporaryFolder() }
    const first = await startLegacyHub(settings)
    for (const value of ['1', '2', '3']) await first.publish(first.token, 'a', value, ['id', `urn:${value}`])
    await first.sse.stop()
    const { token, publish, subscribe } = await startLegacyHub(settings)
    await publish(token, 'a', '4')
    for (const [query, headers, values, id] of [
      ['&lastEventID=urn:1', {}, ['2', '3', '4'], 'urn:1'],
      ['&lastEventID=urn:1', { 'last-event-id': 'urn:3' }, ['4'], 'urn:3'],
      ['&lastEventID=earliest', {}, ['1', '2', '3', '4'], 'earliest'],
    ] as const) {
      for (const stream of await subscribe(`?topic=a${query}`, headers)) {
        await stream.until(values.length)
        expect(stream.values).toEqual(values)
        expect(stream.headers['last-event-id']).toBe(id)
        expect(stream.headers['mercure-last-event-id']).toBe(id)
        expect(stream.headers['access-control-expose-headers']).toContain('last-event-id')
      }
    }
    for (const stream of await subscribe('?topic=a')) expect(stream.headers['last-event-id']).toBeUndefined()
  })

  it('gets private updates that the selectors of its token match', async () => {
    const { token, publish, subscribe, signReader } = await startLegacyHub()
    const reader = await signReader('https://x.example/users/1/{?topic}', 'secret')
    const open = async (value: string) => [
      ...(await subscribe('?topic=*', toBearerHeader(value))),
      ...(await subscribe(`?topic=*&authorization=${value}`)),
      ...(await subscribe('?topic=*', { cookie: `mercureAuthorization=${value}` })),
    ]
    const [allowed, others] = [
      await open(reader),
      [...(await open(await signReader('other'))), ...(await subscribe('?topic=*'))],
    ]
    for (const topics of [['secret'], ['a', 'https://x.example/users/1/?topic=a']])
      await publish(
        token,
        topics[0]!,
        `private ${topics[0]}`,
        ['private', 'on'],
        ...topics.slice(1).map((one) => ['topic', one] as const),
      )
    await publish(token, 'hidden', 'private to all', ['private', 'on'])
    await publish(token, 'a', 'end')
    for (const stream of [...allowed, ...others]) await waitUntil(() => stream.values.includes('end'))
    for (const { values } of allowed) expect(values).toEqual(['private secret', 'private a', 'end'])
    for (const { values } of others) expect(values).toEqual(['end'])
  })

  it('presents its token in the header, else in the URL, else in a cookie', async () => {
    const { sse, subscribe, signReader } = await startLegacyHub({ corsOrigins: 'https://app.example' })
    const good = await signReader('*')
    for (const [query, headers, status] of [
      ['&authorization=x', toBearerHeader(good), 200],
      [`&authorization=${good}`, toBearerHeader('x'), 401],
      [`&authorization=${good}`, { cookie: 'mercureAuthorization=x' }, 200],
      ['&authorization=x', { cookie: `mercureAuthorization=${good}` }, 401],
      [`&authorization=${good}&authorization=${good}`, {}, 400],
      [`&access_token=${good}`, {}, 400],
      ['', { cookie: `mercureAuthorization=${good}`, origin: 'https://app.example' }, 200],
      ['', { cookie: `mercureAuthorization=${good}`, origin: 'https://evil.example' }, 403],
      ['', { cookie: 'mercureAuthorization=x' }, 401],
    ] as [string, Record<string, string>, number][]) {
      for (const stream of await subscribe(`?topic=a${query}`, headers))
        expect({ query, headers, status: stream.status }).toEqual({ query, headers, status })
    }
    const token = await signLegacy(PUBLISHER_KEY, { publish: ['a'] })
    const post = (headers: Record<string, string>, query = '') =>
      sse.request('POST', HUB + query, { body: new URLSearchParams([['topic', 'a']]), headers })
    expect((await post({}, `?authorization=${token}`)).status).toBe(200)
    expect((await post({ cookie: `mercureAuthorization=${token}`, origin: sse.url })).status).toBe(200)
    expect((await post({ cookie: `mercureAuthorization=${token}` })).status).toBe(403)
  })

  it('is refused with a token of the other role, or one that is not valid', async () => {
    const { post, subscribe } = await startLegacyHub()
    const all = { publish: ['*'], subscribe: ['*'] }
    const seconds = Math.floor(Date.now() / 1_000)
    const wrong: Record<string, [publisher: string, subscriber: string]> = {}
    const add = async (what: string, mercure: unknown, claims?: LegacyClaim, header?: LegacyClaim) => {
      wrong[what] = [
        await signLegacy(PUBLISHER_KEY, mercure, claims, header),
        await signLegacy(SUBSCRIBER_KEY, mercure, claims, header),
      ]
    }
    await add('an expiry in the past', all, { exp: seconds - 10 })
    await add('an expiry that is no number', all, { exp: 'never' })
    await add('a start in the future', all, { nbf: seconds + 600 })
    await add('a claim that is no object', ['*'])
    await add('selectors that are no list', { publish: '*', subscribe: '*' })
    await add('a selector that is no text', { publish: ['*', 1], subscribe: [] })
    await add('the type of access tokens', all, {}, { typ: 'at+jwt' })
    await add('the full type of access tokens', all, {}, { typ: 'application/AT+JWT' })
    await add('another algorithm', all, {}, { alg: 'HS512' })
    wrong['the key of the other role'] = [await signLegacy(SUBSCRIBER_KEY, all), await signLegacy(PUBLISHER_KEY, all)]
    wrong['no signature'] = [new UnsecuredJWT({ mercure: all }).encode(), new UnsecuredJWT({ mercure: all }).encode()]
    for (const [what, [publisher, subscriber]] of Object.entries(wrong)) {
      const { status } = await post([['topic', 'a']], toBearerHeader(publisher))
      expect({ what, status }).toEqual({ what, status: 401 })
      for (const stream of await subscribe('?topic=a', toBearerHeader(subscriber)))
        expect({ what, status: stream.status }).toEqual({ what, status: 401 })
    }
    const publish = async (mercure: unknown, claims: LegacyClaim = {}) =>
      (await post([['topic', 'a']], toBearerHeader(await signLegacy(PUBLISHER_KEY, mercure, claims)))).status
    for (const claim of [undefined, {}, { publish: [] }, { publish: null }, { publish: ['b', '{/a}'] }])
      expect(await publish(claim)).toBe(403)
    for (const claim of [
      { publish: ['*'] },
      { publish: ['b', '{a}'] },
      { publish: ['a'], subscribe: ['x'], payload: 1 },
    ])
      expect(await publish(claim)).toBe(200)
    expect(await publish(undefined, { 'https://mercure.rocks/': { publish: ['a'] } })).toBe(200)
    expect(await publish({ publish: ['a'] }, { exp: seconds + 600, iss: 'any', aud: 'any' })).toBe(200)
  })

  it('loses its stream when its token expires', async () => {
    const { subscribe } = await startLegacyHub()
    // On a busy machine the streams may open too late. The test then repeats.
    await waitUntil(async () => {
      const token = await signLegacy(SUBSCRIBER_KEY, { subscribe: ['a'] }, { exp: Math.ceil(Date.now() / 1_000) + 1 })
      const streams = await subscribe('?topic=a', toBearerHeader(token))
      await Promise.all(streams.map(({ closed }) => closed))
      return streams.every(({ status }) => status === 200)
    })
  })
})

describe('the keys of 0.x', () => {
  it('are used besides those of the draft, whose tokens keep all of their rules', async () => {
    const { post, subscribe, token } = await startLegacyHub(MERCURE)
    const send = async (value: string) => (await post([['topic', 'a']], toBearerHeader(value))).status
    expect(await send(token)).toBe(200)
    expect(await send(await signAll())).toBe(200)
    for (const claims of [
      { exp: undefined },
      { aud: undefined },
      { iss: undefined },
      { authorization_details: [{ type: 'x' }, 'x'] },
    ])
      expect(await send(await signAll({ claims: { ...claims, mercure: { publish: ['*'] } } }))).toBe(401)
    for (const stream of await subscribe('?match=a', toBearerHeader(await sign({ subscribe: ['a'] }))))
      expect(stream.status).toBe(200)
  })

  it('may be one key for both roles, or a public key', async () => {
    const one = await startSse({ mercureCompatibility: '8', mercureJwtKey: PUBLISHER_KEY })
    const all = toBearerHeader(await signLegacy(PUBLISHER_KEY, { publish: ['*'], subscribe: ['*'] }))
    expect((await createMercureClient(one).post([['topic', 'a']], all)).status).toBe(200)
    for (const { status } of await createMercureClient(one).subscribe('?topic=a', all)) expect(status).toBe(200)
    const { publicKey, privateKey } = await generateKeyPair('RS256')
    const other = await startSse({
      mercureCompatibility: '8',
      mercurePublisherJwtKey: (await exportSPKI(publicKey)).replaceAll('\n', '\\n'),
      mercurePublisherJwtAlg: 'RS256',
    })
    const token = await new SignJWT({ mercure: { publish: ['a'] } })
      .setProtectedHeader({ alg: 'RS256' })
      .sign(privateKey)
    expect((await createMercureClient(other).post([['topic', 'a']], toBearerHeader(token))).status).toBe(200)
    for (const { status } of await createMercureClient(other).subscribe('?topic=a', toBearerHeader(token)))
      expect(status).toBe(401)
  })

  it.each([
    ['without the mode', { ...LEGACY, mercureCompatibility: '' }],
    ['too short', { ...LEGACY, mercurePublisherJwtKey: 'short' }],
    ['of another algorithm', { ...LEGACY, mercureSubscriberJwtAlg: 'RS256' }],
  ])('are refused at the start: %s', async (_what, settings) => {
    await expect(embed(service, settings)).rejects.toMatchObject({ code: 'MERCURE_KEYS' })
  })

  it('relax rules, which each start reports', () => {
    const lines: unknown[] = []
    const log = { warn: (line: unknown) => lines.push(line) } as never
    reportRelaxedRules({ mercureCompatibility: '' } as never, log)
    expect(lines).toEqual([])
    reportRelaxedRules({ mercureCompatibility: '8' } as never, log)
    expect(lines).toEqual(RELAXED_RULES.map((rule) => ({ compatibility: '8', rule })))
  })
})
