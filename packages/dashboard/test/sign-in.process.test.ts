import { describe, expect, it } from 'vitest'
import { sendRequest, startStack } from './support/test-stack.ts'
import { UNREACHABLE_URL } from './support/fake-service.ts'
import { advanceOneDay, startDashboard, TOKENS, VIDEO } from './support/start-dashboard.ts'

describe('with tokens', () => {
  const signIn = async (url: string, token: string, headers = {}) => {
    const reply = await sendRequest(`${url}/session`, 'POST', { body: { token }, headers })
    return { ...reply, cookie: reply.headers.get('set-cookie')?.split(';')[0] ?? '' }
  }

  it('requests without a token are refused; a session has the permissions of its token', async () => {
    const { url } = await startStack({ all: TOKENS })
    const list = `${url}/api/stats/collections`
    expect((await sendRequest(`${url}/`)).status).toBe(200)
    expect((await sendRequest(`${url}/session`)).body).toMatchObject({ needed: true })
    expect((await sendRequest(`${url}/session`)).body.role).toBeUndefined()
    for (const path of ['/api/stats/collections', '/api/sse/wait?topic=a', '/links?campaign=a', '/metrics'])
      expect([path, (await sendRequest(url + path)).status]).toEqual([path, 401])

    const wrong = await signIn(url, 'for change')
    expect([wrong.body.code, wrong.cookie]).toEqual(['TOKEN_WRONG', ''])
    const editor = await signIn(url, TOKENS.apiToken)
    expect(editor.headers.get('set-cookie')).toMatch(/; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict$/)
    expect(editor.headers.get('set-cookie')).not.toContain(TOKENS.apiToken)
    const cookie = { cookie: editor.cookie }
    expect((await sendRequest(list, 'GET', { headers: cookie })).status).toBe(200)
    const put = (headers: Record<string, string>) =>
      sendRequest(`${list}/a`, 'PUT', { headers, body: { videos: [VIDEO] } })
    expect((await put({ ...cookie, origin: url })).status).toBe(201)

    const reader = await signIn(url, TOKENS.readToken)
    expect((await sendRequest(list, 'GET', { headers: { cookie: reader.cookie } })).status).toBe(200)
    expect((await put({ cookie: reader.cookie, origin: url })).body.code).toBe('SIGN_IN_NEEDED')
    // A program sends the token itself.
    expect((await put({ authorization: `Bearer ${TOKENS.apiToken}` })).status).toBe(200)
    expect((await put({ authorization: 'Bearer nonsense' })).status).toBe(401)
    const out = await sendRequest(`${url}/session`, 'DELETE', { headers: cookie })
    expect(out.headers.get('set-cookie')).toMatch(/^dashboard_session=; .*Max-Age=0/)
  })

  it('a backup, which has the signing key, needs the token for changes, or the only one', async () => {
    for (const [settings, right, wrong] of [
      [TOKENS, TOKENS.apiToken, TOKENS.readToken],
      [{ readToken: TOKENS.readToken }, TOKENS.readToken, 'nonsense'],
      [{ apiToken: TOKENS.apiToken }, TOKENS.apiToken, 'nonsense'],
    ] as const) {
      const { url } = await startDashboard(UNREACHABLE_URL, settings)
      const statusWith = async (headers: Record<string, string>) =>
        (await sendRequest(`${url}/backup`, 'GET', { headers })).status
      const { cookie } = await signIn(url, right)
      const refused: Record<string, string>[] = [
        {},
        { cookie },
        { cookie, origin: url },
        { authorization: `Bearer ${wrong}` },
      ]
      for (const headers of refused) expect([headers, await statusWith(headers)]).toEqual([headers, 401])
      expect(await statusWith({ authorization: `Bearer ${right}` })).toBe(200)
    }
  })

  it.each([
    ['another site', { origin: 'https://evil.example' }, 'CROSS_SITE'],
    ['a sandboxed page', { origin: 'null' }, 'CROSS_SITE'],
    ['another port of this machine', { origin: 'http://127.0.0.1:1' }, 'CROSS_SITE'],
    ['a form of another site', { 'sec-fetch-site': 'cross-site' }, 'CROSS_SITE'],
    ['a neighbour', { 'sec-fetch-site': 'same-site' }, 'CROSS_SITE'],
    ['nobody knows where', {}, 'ORIGIN_UNKNOWN'],
  ])('a change that comes from %s is refused, though the cookie came with it', async (_from, headers, code) => {
    const { url } = await startStack({ all: TOKENS })
    const { cookie } = await signIn(url, TOKENS.apiToken)
    for (const [method, path] of [
      ['DELETE', '/api/stats/collections/a'],
      ['POST', '/links'],
      ['DELETE', '/links/a'],
    ] as const) {
      const body = method === 'POST' ? { body: { campaign: 'a' } } : {}
      const reply = await sendRequest(url + path, method, { headers: { cookie, ...headers }, ...body })
      expect([path, reply.body.code]).toEqual([path, code])
    }
    if (code === 'CROSS_SITE') expect((await signIn(url, TOKENS.apiToken, headers)).body.code).toBe('CROSS_SITE')
  })

  it('a session ends when it expires, after a change of the tokens, and if its cookie is altered', async () => {
    const { url, restart } = await startStack({ all: TOKENS, dashboard: { sessionDays: 1 } })
    const { cookie } = await signIn(url, TOKENS.readToken)
    const roleWith = async (sent: string, at = url) =>
      (await sendRequest(`${at}/session`, 'GET', { headers: { cookie: sent } })).body.role
    expect(await roleWith(cookie)).toBe('reader')
    expect(await roleWith(`${cookie}x`)).toBeUndefined()
    const present = advanceOneDay()
    expect(await roleWith(cookie)).toBeUndefined()
    present()
    expect(await roleWith(cookie, await restart())).toBe('reader')
    expect(await roleWith(cookie, await restart({ readToken: 'another' }))).toBeUndefined()
  })
})
