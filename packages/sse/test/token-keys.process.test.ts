import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { renameSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { RemoteKeySet } from '../src/tokens/remote-key-set.ts'
import { createMercureClient } from './support/mercure-client.ts'
import { AUDIENCE, ISSUER, MERCURE, sign, signAll, toBearerHeader, toDetails } from './support/sign-tokens.ts'
import { startSse, type TestSse } from './support/test-sse.ts'

const OTHER_ISSUER = 'https://other.example'
const { mercureJwtKey: _, ...WITHOUT_KEY } = MERCURE

async function createKey(kid: string) {
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  const jwk = { ...(await exportJWK(publicKey)), kid, alg: 'ES256' }
  const signToken = (iss = ISSUER) =>
    new SignJWT({ iss, aud: AUDIENCE, authorization_details: toDetails({ publish: ['*'], subscribe: ['*'] }) })
      .setProtectedHeader({ alg: 'ES256', kid, typ: 'at+jwt' })
      .setExpirationTime('10 min')
      .sign(privateKey)
  return { jwk, signToken }
}

const publish = async (sse: TestSse, token: string) =>
  (await createMercureClient(sse).post([['topic', 'a']], toBearerHeader(token))).status

describe('the file with keys', () => {
  it('is followed: within a second a removed key is refused and a new one is valid, on every thread', async () => {
    const file = join(createTemporaryFolder(), 'keys.json')
    const replace = (text: string) => {
      writeFileSync(`${file}.new`, text)
      renameSync(`${file}.new`, file)
    }
    const [first, second] = [await createKey('1'), await createKey('2')]
    replace(JSON.stringify({ keys: [first.jwk] }))
    const sse = await startSse({ ...WITHOUT_KEY, mercureJwksFile: file, threads: 2 })
    const [old, recent] = [await first.signToken(), await second.signToken()]
    // Both threads have cached the token.
    for (let i = 0; i < 8; i++) expect([await publish(sse, old), await publish(sse, recent)]).toEqual([200, 401])
    replace(JSON.stringify({ keys: [second.jwk] }))
    await waitUntil(async () => {
      for (let i = 0; i < 8; i++)
        if ((await publish(sse, old)) !== 401 || (await publish(sse, recent)) !== 200) return false
      return true
    })
    // Keys that cannot be used do not replace those in use.
    for (const text of ['', '{"keys":[]}', '{"keys":[{"kty":"oct","k":"YQ"}]}']) {
      replace(text)
      await new Promise((resolve) => setTimeout(resolve, 700))
      expect(await publish(sse, recent)).toBe(200)
    }
  })
})

describe('the URL with keys', () => {
  /** Serves a key set. */
  async function serveKeys(getBody: () => { status: number; body: string }) {
    let requests = 0
    const server = createServer((_request, response) => {
      requests++
      const { status, body } = getBody()
      response.writeHead(status, status === 302 ? { location: '/' } : {}).end(body)
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    return {
      url: `http://127.0.0.1:${(server.address() as { port: number }).port}/jwks`,
      countRequests: () => requests,
    }
  }

  it('is fetched at the start, and again for an unknown key, but not for every one', async () => {
    const [first, second] = [await createKey('1'), await createKey('2')]
    const unusable = [
      { kty: 'OKP', crv: 'X25519', x: 'AAAA' },
      { kty: 'oct', k: 'A'.repeat(64), kid: 'secret' },
    ]
    let keys: object[] = [first.jwk, { ...second.jwk, use: 'enc' }, ...unusable]
    const { url, countRequests } = await serveKeys(() => ({ status: 200, body: JSON.stringify({ keys }) }))
    const sse = await startSse({ ...WITHOUT_KEY, mercureJwksUrl: url })
    expect(await publish(sse, await first.signToken())).toBe(200)
    expect(countRequests()).toBe(1)
    // A secret in a public set is no key.
    const forged = await signAll({ secret: Buffer.from('A'.repeat(64), 'base64url').toString('latin1') })
    expect(await publish(sse, forged)).toBe(401)
    keys = [second.jwk]
    const unknown = await createKey('x')
    for (let i = 0; i < 20; i++) expect(await publish(sse, await unknown.signToken())).toBe(401)
    expect(countRequests()).toBeLessThanOrEqual(2)
  })

  it('is fetched early if the last fetch is 10 s old', async () => {
    const [first, second] = [await createKey('1'), await createKey('2')]
    let keys = [first.jwk]
    const { url, countRequests } = await serveKeys(() => ({ status: 200, body: JSON.stringify({ keys }) }))
    let changes = 0
    const set = new RemoteKeySet({ url, issuer: ISSUER, log: { info() {}, warn() {} }, onChange: () => changes++ })
    onTestFinished(() => set.close())
    await set.refresh()
    keys = [second.jwk]
    await set.refresh()
    expect([set.keys.map(({ id }) => id), countRequests(), changes]).toEqual([['1'], 1, 1])
    const now = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 10_001)
    onTestFinished(() => now.mockRestore())
    await Promise.all([set.refresh(), set.refresh()])
    expect([set.keys.map(({ id }) => id), countRequests(), changes]).toEqual([['2'], 2, 2])
  })

  it('may be unavailable: the other keys remain valid, and a later fetch finds the keys', async () => {
    const { jwk, signToken } = await createKey('1')
    const { url } = await serveKeys(() => ({ status: 302, body: JSON.stringify({ keys: [jwk] }) }))
    const sse = await startSse({ ...MERCURE, mercureJwksUrl: url })
    expect(await publish(sse, await signToken())).toBe(401)
    expect(await publish(sse, await signAll())).toBe(200)
  })
})

describe('several issuers', () => {
  it('each have keys of their own', async () => {
    const file = join(createTemporaryFolder(), 'keys.json')
    const [one, other] = [await createKey('1'), await createKey('2')]
    writeFileSync(file, JSON.stringify({ keys: [one.jwk, { ...other.jwk, iss: OTHER_ISSUER }] }))
    const sse = await startSse({ ...MERCURE, mercureIssuer: `${ISSUER}, ${OTHER_ISSUER}`, mercureJwksFile: file })
    expect(await publish(sse, await one.signToken())).toBe(200)
    expect(await publish(sse, await other.signToken(OTHER_ISSUER))).toBe(200)
    expect(await publish(sse, await other.signToken())).toBe(401)
    expect(await publish(sse, await one.signToken(OTHER_ISSUER))).toBe(401)
    expect(await publish(sse, await sign({ publish: ['*'] }, { claims: { iss: OTHER_ISSUER } }))).toBe(401)
    expect(await publish(sse, await sign({ publish: ['*'] }))).toBe(200)
  })

  it.each([
    ['a URL without an issuer', { mercureJwksUrl: 'https://a.example/jwks,https://b.example/jwks' }],
    ['a key of another issuer', { mercureIssuer: OTHER_ISSUER }],
  ])('are refused at the start: %s', async (_what, settings) => {
    const file = join(createTemporaryFolder(), 'keys.json')
    writeFileSync(file, JSON.stringify({ keys: [{ ...(await createKey('1')).jwk, iss: ISSUER }] }))
    await expect(startSse({ ...MERCURE, mercureJwksFile: file, ...settings })).rejects.toMatchObject({
      code: 'MERCURE_KEYS',
    })
  })
})
