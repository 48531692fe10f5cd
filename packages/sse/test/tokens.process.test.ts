import { embed } from '@influencer-stats/runtime/embed'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { base64url, CompactSign, exportJWK, exportSPKI, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sse as service } from '../src/service.ts'
import { HUB, createMercureClient } from './support/mercure-client.ts'
import { startSse } from './support/test-sse.ts'
import {
  AUDIENCE,
  toBearerHeader,
  toCookieHeader,
  toDetails,
  ISSUER,
  MERCURE,
  SECRET,
  sign,
  signAll,
} from './support/sign-tokens.ts'

const soon = () => Math.floor(Date.now() / 1_000) + 600
const ALL_DETAILS = toDetails({ publish: ['*'], subscribe: ['*'] })
const claims = () => ({ iss: ISSUER, aud: AUDIENCE, exp: soon(), authorization_details: ALL_DETAILS })
const from = (name: string, origin: string) => ({ [name]: origin })

describe('an access token', () => {
  it('is refused if it is invalid, on every route', async () => {
    const sse = await startSse({ ...MERCURE, mercureAnonymous: 'on' })
    const { post, subscribe } = createMercureClient(sse)
    const stranger = await generateKeyPair('ES256', { extractable: true })
    const [header, payload, signature] = (await signAll()).split('.') as [string, string, string]
    const other = (topics: unknown) => signAll({ claims: { authorization_details: topics } })
    const secret = Buffer.from(SECRET)
    const wrong: Record<string, string> = {
      'no signature': new UnsecuredJWT(claims()).encode(),
      'the algorithm none, signed': `${base64url.encode('{"alg":"none","typ":"at+jwt"}')}.${payload}.${signature}`,
      'another key': await signAll({ secret: 'another secret of 32 characters!!' }),
      "another issuer's key, and its name": await signAll({
        secret: 'x'.repeat(32),
        claims: { iss: 'https://other.example' },
      }),
      'another issuer': await signAll({ claims: { iss: 'https://other.example' } }),
      'no issuer': await signAll({ claims: { iss: undefined } }),
      'another type': await signAll({ header: { typ: 'JWT' } }),
      'no type': await signAll({ header: { typ: undefined } }),
      'no expiry': await signAll({ claims: { exp: undefined } }),
      'an expiry that is not a number': await new CompactSign(
        Buffer.from(JSON.stringify({ ...claims(), exp: 'never' })),
      )
        .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt' })
        .sign(secret),
      'an expiry in the past': await signAll({ expiresAt: Date.now() - 1_000 }),
      'a start in the future': await signAll({ claims: { nbf: soon() } }),
      'another audience': await signAll({ claims: { aud: ['https://other.example'] } }),
      'no audience': await signAll({ claims: { aud: undefined } }),
      'a key in its header': await new SignJWT(claims())
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', jwk: await exportJWK(stranger.publicKey) })
        .sign(stranger.privateKey),
      'the URL of a key in its header': await signAll({
        secret: 'y'.repeat(32),
        header: { jku: 'https://other.example/keys' },
      }),
      'an unknown extension': await new CompactSign(Buffer.from(JSON.stringify(claims())))
        .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', crit: ['exp2'], exp2: 1 })
        .sign(secret, { crit: { exp2: true } }),
      'an unknown match_type': await other(toDetails({ publish: ['*', { match: 'a', match_type: 'regexp' }] })),
      'a malformed pattern': await other(toDetails({ subscribe: [{ match: '{', match_type: 'urlpattern' }] })),
      'malformed details': await other({}),
      'a malformed match': await other(toDetails({ subscribe: [{ match: 1 }] })),
      'a truncated signature': `${header}.${payload}.${signature.slice(0, -2)}`,
      'another text': 'nonsense',
      'too long': `${header}.${payload}${'A'.repeat(9_000)}.${signature}`,
    }
    for (const [what, token] of Object.entries(wrong)) {
      const replies = [
        await post([['topic', 'a']], toBearerHeader(token)),
        await post([['topic', 'a']], { ...toCookieHeader(token), origin: sse.url }),
      ]
      for (const { status, headers, body } of replies) {
        expect({ what, status, code: body.code }).toEqual({ what, status: 401, code: 'INVALID_TOKEN' })
        expect(headers.get('www-authenticate')).toBe('Bearer error="invalid_token"')
      }
      for (const { status } of await subscribe('?match=a', toBearerHeader(token)))
        expect({ what, status }).toEqual({ what, status: 401 })
      // The other routes also verify a text in the form of an access token.
      if (!/^[\w-]+\.[\w-]+\.[\w-]*$/.test(token)) continue
      for (const { status } of await sse.openBoth('', toBearerHeader(token)))
        expect({ what, status }).toEqual({ what, status: 401 })
      expect((await sse.request('GET', '/put?v=1', { headers: toBearerHeader(token) })).status).toBe(401)
    }
    expect((await post([['topic', 'a']], toBearerHeader(await signAll()))).status).toBe(200)
  })

  it('may be in a cookie, which only pages of allowed origins may use; the header has precedence', async () => {
    const sse = await startSse({ ...MERCURE, corsOrigins: 'https://app.example' })
    const { post, subscribe } = createMercureClient(sse)
    const token = await signAll()
    for (const [headers, status] of [
      [toCookieHeader(token), 403],
      [{ ...toCookieHeader(token), ...from('origin', 'https://evil.example') }, 403],
      [{ ...toCookieHeader(token), ...from('origin', 'null') }, 403],
      [{ ...toCookieHeader(token), 'sec-fetch-site': 'same-site' }, 403],
      [{ ...toCookieHeader(token), ...from('origin', 'https://app.example') }, 200],
      [{ ...toCookieHeader(token), ...from('origin', sse.url) }, 200],
      [{ ...toCookieHeader(token), 'sec-fetch-site': 'same-origin' }, 200],
      [{ ...toCookieHeader(token), ...toBearerHeader('nonsense'), ...from('origin', sse.url) }, 401],
      [{ ...toCookieHeader('nonsense'), ...toBearerHeader(token), ...from('origin', 'https://evil.example') }, 200],
    ] as [Record<string, string>, number][]) {
      const reply = await post([['topic', 'a']], headers)
      expect({ headers, status: reply.status }).toEqual({ headers, status })
      if (status === 403) expect({ headers, code: reply.body.code }).toEqual({ headers, code: 'ORIGIN_REFUSED' })
    }
    for (const [headers, status] of [
      [{}, 200],
      [{ 'sec-fetch-site': 'none' }, 200],
      [{ 'sec-fetch-site': 'cross-site' }, 403],
      [from('origin', 'https://evil.example'), 403],
      [from('origin', 'https://app.example'), 200],
    ] as [Record<string, string>, number][]) {
      for (const stream of await subscribe('?match=a', { ...toCookieHeader(token), ...headers })) {
        expect({ headers, status: stream.status }).toEqual({ headers, status })
        if (headers.origin === undefined) continue
        const allowed = status === 200 ? 'https://app.example' : undefined
        expect(stream.headers['access-control-allow-origin']).toBe(allowed)
      }
    }
  })

  it('is required, and not accepted in a URL', async () => {
    const sse = await startSse(MERCURE)
    const { post, subscribe } = createMercureClient(sse)
    const token = await signAll()
    const { status, headers, body } = await post([['topic', 'a']])
    expect([status, body.code, headers.get('www-authenticate')]).toEqual([401, 'UNAUTHORIZED', 'Bearer'])
    for (const stream of await subscribe('?match=a')) {
      expect(stream).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer' } })
    }
    for (const name of ['access_token', 'authorization']) {
      for (const stream of await subscribe(`?match=a&${name}=${token}`)) {
        expect(stream).toMatchObject({ status: 400, headers: { 'www-authenticate': 'Bearer error="invalid_request"' } })
      }
      const posted = await sse.request('POST', `${HUB}?${name}=${token}`, {
        body: new URLSearchParams([['topic', 'a']]),
      })
      expect(posted).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST' } })
    }
    for (const wrong of [
      { authorization: 'Bearer ' },
      { authorization: 'Bearer a b' },
      toCookieHeader(`${token}; __Secure-mercure_access_token=x`),
    ] as Record<string, string>[]) {
      for (const stream of await subscribe('?match=a', wrong)) expect(stream.status).toBe(400)
    }
    for (const stream of await subscribe('?match=a', toBearerHeader(token))) expect(stream.status).toBe(200)
  })

  it('allows only the topics that it names', async () => {
    const sse = await startSse(MERCURE)
    const { post } = createMercureClient(sse)
    const token = await sign({
      publish: ['a', { match: 'https://x.example/:id', match_type: 'urlpattern' }],
      subscribe: ['*'],
    })
    const publish = (...topics: string[]) =>
      post(
        topics.map((topic) => ['topic', topic]),
        toBearerHeader(token),
      )
    for (const topics of [['a'], ['https://x.example/1'], ['a', 'https://x.example/1']])
      expect((await publish(...topics)).status).toBe(200)
    for (const topics of [['b'], ['a', 'b'], ['https://x.example/1/2'], ['*a']]) {
      const { status, headers, body } = await publish(...topics)
      expect([status, body.code]).toEqual([403, 'INSUFFICIENT_SCOPE'])
      expect(headers.get('www-authenticate')).toBe('Bearer error="insufficient_scope"')
    }
    const put = (topic: string, headers = toBearerHeader(token)) =>
      sse.request('POST', `/put?topic=${topic}`, { body: 'v', headers })
    expect((await put('a')).status).toBe(200)
    expect(await put('b')).toMatchObject({ status: 403, body: { code: 'INSUFFICIENT_SCOPE' } })
    expect((await post([['topic', 'a']], toBearerHeader(await sign({ subscribe: ['*'] })))).status).toBe(403)
  })

  it('replaces the tokens of all services on /put, /wait and /value, for its topics', async () => {
    const sse = await startSse({ ...MERCURE, apiToken: 'change', readToken: 'read' })
    const token = await sign({ publish: ['a'], subscribe: ['a'] })
    const put = (topic: string, headers: Record<string, string>) =>
      sse.request('POST', `/put?topic=${topic}`, { body: topic, headers })
    expect((await put('a', {})).status).toBe(401)
    expect((await put('a', toBearerHeader('wrong'))).status).toBe(401)
    expect((await put('b', toBearerHeader(token))).status).toBe(403)
    expect((await sse.request('POST', '/closeall', { headers: toBearerHeader(token) })).status).toBe(401)
    const mine = await sse.openBoth('?match=*&named=1', toBearerHeader(token))
    const all = [
      ...(await sse.openBoth('?match=*&named=1', toBearerHeader('read'))),
      ...(await sse.openBoth('?match=*&named=1&access_token=read')),
    ]
    for (const { status } of await sse.openBoth('?match=*')) expect(status).toBe(401)
    for (const { status } of await createMercureClient(sse).subscribe('?match=*')) expect(status).toBe(401)
    for (const topic of ['b', 'a']) expect((await put(topic, toBearerHeader('change'))).status).toBe(200)
    expect((await put('a', toBearerHeader(token))).status).toBe(200)
    for (const stream of all) {
      await stream.until(3)
      expect(stream.values.map((json) => JSON.parse(json).topic)).toEqual(['b', 'a', 'a'])
    }
    // If reads need a token, no value is public.
    for (const stream of mine) {
      await stream.until(2)
      expect(stream.values.map((json) => JSON.parse(json).topic)).toEqual(['a', 'a'])
    }
    const value = (topic: string) => sse.request('GET', `/value?topic=${topic}`, { headers: toBearerHeader(token) })
    expect([(await value('a')).status, (await value('b')).status]).toEqual([200, 404])
  })

  it('ends its own streams when it expires, and no others', async () => {
    const sse = await startSse(MERCURE)
    const { subscribe } = createMercureClient(sse)
    const others = await subscribe('?match=a', toBearerHeader(await signAll()))
    // On a busy machine a timer may be late, or the streams may open too late. The test then repeats.
    await waitUntil(async () => {
      const ends = Math.ceil(Date.now() / 1_000) * 1_000 + 1_000
      const short = toBearerHeader(await sign({ subscribe: ['a'] }, { expiresAt: ends }))
      const ending = [...(await subscribe('?match=a', short)), ...(await sse.openBoth('?topic=a', short))]
      await Promise.all(ending.map(({ closed }) => closed))
      return ending.every(({ status }) => status === 200) && Date.now() <= ends
    })
    await sse.put('after', 'a')
    for (const stream of others) {
      await stream.until(1)
      expect(stream.ended).toBe(false)
    }
    await waitUntil(async () => (await sse.readMetric('sse_streams')) === 2)
  })
})

describe('the keys of access tokens', () => {
  it('may be in a file, each with its algorithm and name', async () => {
    const file = join(createTemporaryFolder(), 'keys.json')
    const pairs = {
      ES256: await generateKeyPair('ES256'),
      EdDSA: await generateKeyPair('EdDSA'),
      RS256: await generateKeyPair('RS256'),
    }
    const keys = await Promise.all(
      Object.entries(pairs).map(async ([alg, { publicKey }]) => ({ ...(await exportJWK(publicKey)), alg, kid: alg })),
    )
    writeFileSync(file, JSON.stringify({ keys }))
    const { mercureJwtKey: _, ...settings } = MERCURE
    const sse = await startSse({ ...settings, mercureJwksFile: file })
    const { post } = createMercureClient(sse)
    const status = async (alg: string, kid: string, key: Parameters<SignJWT['sign']>[0]) => {
      const token = await new SignJWT(claims()).setProtectedHeader({ alg, kid, typ: 'at+jwt' }).sign(key)
      return (await post([['topic', 'a']], toBearerHeader(token))).status
    }
    for (const [alg, { privateKey }] of Object.entries(pairs)) expect(await status(alg, alg, privateKey)).toBe(200)
    expect(await status('ES256', 'EdDSA', pairs.ES256.privateKey)).toBe(401)
    // A public key is not accepted as the secret of a signature.
    const asSecret = await new SignJWT(claims())
      .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt' })
      .sign(Buffer.from(await exportSPKI(pairs.RS256.publicKey)))
    expect((await post([['topic', 'a']], toBearerHeader(asSecret))).status).toBe(401)
  })

  it('may be one public key', async () => {
    const { publicKey, privateKey } = await generateKeyPair('ES256')
    const sse = await startSse({ ...MERCURE, mercureJwtKey: await exportSPKI(publicKey) })
    const token = await new SignJWT(claims()).setProtectedHeader({ alg: 'ES256', typ: 'at+jwt' }).sign(privateKey)
    expect((await createMercureClient(sse).post([['topic', 'a']], toBearerHeader(token))).status).toBe(200)
  })

  it.each([
    ['a secret that can be guessed', { ...MERCURE, mercureJwtKey: 'short' }],
    ['no issuer', { ...MERCURE, mercureIssuer: '' }],
    ['no audience', { ...MERCURE, mercureAudience: '' }],
    ['a malformed key', { ...MERCURE, mercureJwtKey: '-----BEGIN PUBLIC KEY-----\nx\n-----END PUBLIC KEY-----' }],
    ['a missing file', { ...MERCURE, mercureJwksFile: '/nowhere' }],
  ])('are refused at the start: %s', async (_what, settings) => {
    await expect(embed(service, settings)).rejects.toMatchObject({ code: 'MERCURE_KEYS' })
  })

  it('are required: without one, no token is valid', async () => {
    const sse = await startSse({ mercureAnonymous: 'on' })
    const { post, subscribe } = createMercureClient(sse)
    expect((await post([['topic', 'a']], toBearerHeader(await signAll()))).status).toBe(401)
    for (const stream of await subscribe('?match=a')) {
      await sse.put('public', 'a')
      await waitUntil(() => stream.values.length > 0)
    }
  })
})
