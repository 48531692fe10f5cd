import type { IncomingMessage, ServerResponse } from 'node:http'
import { configOf, embed } from '@influencer-stats/runtime/embed'
import { openLevel } from '@influencer-stats/runtime/level'
import { settingsFit } from '@influencer-stats/runtime/testing/settings-fit'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { until } from '@influencer-stats/runtime/testing/until'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { makeDemo } from '../src/demo.ts'
import { dashboard } from '../src/service.ts'
import type { DashboardConfig } from '../src/settings.ts'
import { ask, startHouse } from './support/house.ts'
import { DEAD, serve } from './support/serve.ts'

settingsFit(dashboard)

const TOKENS = { apiToken: 'for-changes', readToken: 'for-reading' }
const VIDEO = '1FEFpk-uIYo'
const OTHER_VIDEO = 'kkHvZ4nIAbF'

/** The dashboard before services that are none. */
async function startBefore(service: string, settings: Record<string, string | number> = {}) {
  const running = await embed(dashboard, {
    data: temporaryFolder(),
    statsUri: service,
    sseUri: service,
    demo: 'off',
    ...settings,
  })
  onTestFinished(async () => void (await running.stop()))
  return running
}

/** A day and a moment pass at once. @returns what takes that back */
function aDayLater(): () => void {
  const { now } = Date
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + 86_400_001)
  onTestFinished(() => void clock.mockRestore())
  return () => void clock.mockRestore()
}

describe('the page', () => {
  it('comes with a policy that lets nothing in from elsewhere, and its files are kept for good', async () => {
    const { url } = await startBefore(DEAD)
    const page = await ask(`${url}/campaigns/a`)
    expect(page.status).toBe(200)
    const policy = page.headers.get('content-security-policy')!
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
    expect(policy).toMatch(/default-src 'none'; script-src 'self';/)
    expect(page.text).not.toMatch(/<script(?![^>]*src)|style=|\son\w+=/)
    const again = await ask(`${url}/`, 'GET', { headers: { 'if-none-match': page.headers.get('etag')! } })
    expect(again.status).toBe(304)

    const files = [...new Set(page.text.match(/\/assets\/[^"]+/g))]
    let scripts = 0
    for (const file of files) {
      const reply = await fetch(url + file, { headers: { 'accept-encoding': 'br' } })
      expect([file, reply.status, reply.headers.get('content-encoding')]).toEqual([file, 200, 'br'])
      expect(reply.headers.get('cache-control')).toMatch(/immutable/)
      expect(reply.headers.get('etag')).toMatch(/^"/)
      const plain = await fetch(url + file, { headers: { 'accept-encoding': 'br;q=0, gzip;q=0' } })
      const zipped = await fetch(url + file, { headers: { 'accept-encoding': 'gzip' } })
      expect(plain.headers.get('content-encoding')).toBeNull()
      const text = await plain.text()
      expect(await reply.text()).toBe(text)
      expect(await zipped.text()).toBe(text)
      // No name that a browser could not resolve.
      expect(text).not.toMatch(/^import .* from ["'](?![./])/m)
      const { headers } = await fetch(url + file, { method: 'HEAD', headers: { 'accept-encoding': 'br' } })
      if (/\.[jt]s$/.test(file)) scripts += Number(headers.get('content-length'))
    }
    expect(scripts).toBeGreaterThan(10_000)
    expect(scripts).toBeLessThan(150_000)
    const { version } = /\/assets\/(?<version>[^/]+)/.exec(page.text)!.groups!
    for (const path of [`/assets/${version}/none.js`, `/assets/${version}/../app.ts`, `/assets/old/main.ts`])
      expect((await ask(url + path)).body.code).toBe('NOT_FOUND')
  })
})

describe('an unknown path', () => {
  it.each(['/nope', '/campaigns', '/health/', '/campaigns/a/b', '/shared', '/shared/a/nope'])(
    '%s shows browsers the page, and programs a problem',
    async (path) => {
      const { url } = await startBefore(DEAD, TOKENS)
      const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }
      const page = await ask(url + path, 'GET', { headers: browser })
      expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
      expect(page.text).toMatch(/<div id="app">/)
      expect(page.headers.get('content-security-policy')).toMatch(/default-src 'none'/)
      for (const accept of ['*/*', 'application/json', 'application/*, text/plain']) {
        const problem = await ask(url + path, 'GET', { headers: { accept } })
        expect([problem.status, problem.body.code]).toEqual([404, 'NOT_FOUND'])
        expect(problem.headers.get('vary')).toMatch(/accept/)
      }
      const change = await ask(url + path, 'DELETE', { headers: browser })
      expect([change.status, change.headers.get('content-type')]).toEqual([404, 'application/problem+json'])
    },
  )
})

describe('what pages ask of services', () => {
  it('goes there and comes back as it is, refusals included; other routes and services are refused', async () => {
    const { url } = await startHouse()
    const collection = `${url}/api/stats/collections/a`
    expect((await ask(collection, 'PUT', { body: { videos: [VIDEO] } })).status).toBe(201)
    expect((await ask(collection)).body).toMatchObject({ id: 'a', videos: [VIDEO] })
    expect((await ask(`${url}/api/stats/collections/none`)).body.code).toBe('COLLECTION_NOT_FOUND')
    expect((await ask(collection, 'PUT', { body: { videos: ['nonsense'] } })).body.code).toBe('VALIDATION_FAILED')
    // Numbers are read anew all the time: not between the two, if it is tried again.
    await until(async () => {
      const sums = await ask(`${collection}/stats`)
      const known = { headers: { 'if-none-match': sums.headers.get('etag')! } }
      return (await ask(`${collection}/stats`, 'GET', known)).status === 304
    })
    expect((await ask(`${collection}/videos/${VIDEO}`, 'DELETE')).status).toBe(204)
    expect((await ask(`${url}/api/sse/put?v=1`, 'POST')).body.code).toBe('ROUTE_REFUSED')
    expect((await ask(`${url}/api/youtube/metrics`)).body.code).toBe('SERVICE_UNKNOWN')
    expect((await ask(`${url}/api/prices/metrics`)).body.code).toBe('SERVICE_UNKNOWN')
  })

  it('carries conditions to stats, and its refusals with the current ETag back', async () => {
    const { url } = await startHouse()
    const collection = `${url}/api/stats/collections/a`
    const made = await ask(collection, 'PUT', { headers: { 'if-none-match': '*' }, body: { videos: [VIDEO] } })
    const ifMatch = (etag: string) => ({ headers: { 'if-match': etag }, body: { name: 'Spring' } })
    const renamed = await ask(collection, 'PATCH', ifMatch(made.headers.get('etag')!))
    expect([made.status, renamed.status]).toEqual([201, 200])
    for (const [method, path] of [
      ['PATCH', collection],
      ['DELETE', collection],
      ['PUT', `${collection}/videos/${VIDEO}`],
      ['DELETE', `${collection}/videos/${VIDEO}`],
    ] as const) {
      const { headers, body } = ifMatch(made.headers.get('etag')!)
      const refused = await ask(path, method, { headers, ...(method === 'PATCH' && { body }) })
      expect(refused).toMatchObject({ status: 412, body: { code: 'CONDITION_FAILED' } })
      expect(refused.headers.get('etag')).toBe(renamed.headers.get('etag'))
    }
    const again = await ask(collection, 'PUT', { headers: { 'if-none-match': '*' }, body: { videos: [] } })
    expect(again.status).toBe(412)
  })

  it('is told in time that a service is away or slow, and never more of it than that', async () => {
    const slow = await serve(() => {})
    const { url } = await startBefore(slow, { serviceTimeout: 50 })
    expect((await ask(`${url}/api/stats/collections`)).body.code).toBe('SERVICE_SLOW')
    const away = await startBefore(DEAD)
    const { body, text } = await ask(`${away.url}/api/stats/collections`)
    expect(body.code).toBe('SERVICE_UNREACHABLE')
    expect(text).not.toMatch(/127|ECONN/)
  })

  it('goes to another node where one does not answer, but no change that may have been made', async () => {
    const asked: string[] = []
    const cuts = await serve(({ method, socket }) => {
      asked.push(`${method} cut`)
      socket.destroy()
    })
    const whole = await serve(({ method }, response) => {
      asked.push(`${method} whole`)
      response.end('{}')
    })
    const before = async (statsUri: string) => `${(await startBefore(DEAD, { statsUri })).url}/api/stats`
    // What was refused was not made.
    const gone = await before(`${DEAD},${DEAD},${whole}`)
    expect((await ask(`${gone}/collections/a`, 'PUT', { body: {} })).status).toBe(200)
    const reading = await before(`${cuts},${whole}`)
    expect((await ask(`${reading}/collections`)).status).toBe(200)
    expect((await ask(`${reading}/collections`)).status).toBe(200)
    expect(asked.splice(0)).toEqual(['PUT whole', 'GET cut', 'GET whole', 'GET whole'])
    const changing = await before(`${cuts},${whole}`)
    expect((await ask(`${changing}/collections/a`, 'PUT', { body: {} })).body.code).toBe('SERVICE_UNREACHABLE')
    expect((await ask(`${changing}/collections/a`, 'PUT', { body: {} })).status).toBe(200)
    expect(asked.splice(0)).toEqual(['PUT cut', 'PUT whole'])
    const none = await before(`${DEAD},${DEAD}`)
    expect((await ask(`${none}/collections`)).body.code).toBe('SERVICE_UNREACHABLE')
  })

  it('goes to a node that is named, and to no other', async () => {
    const whole = await serve((_request, response) => void response.end('{}'))
    const { url } = await startBefore(whole, { statsUri: `${DEAD},${whole}` })
    expect((await ask(`${url}/session`)).body.nodes).toEqual(['stats.1', 'stats.2', 'sse'])
    expect((await ask(`${url}/api/stats.1/readyz`)).body.code).toBe('SERVICE_UNREACHABLE')
    expect((await ask(`${url}/api/stats.2/readyz`)).status).toBe(200)
    for (const name of ['stats.0', 'stats.3', 'sse.2'])
      expect((await ask(`${url}/api/${name}/readyz`)).body.code).toBe('SERVICE_UNKNOWN')
    expect((await ask(`${url}/api/stats.2/elsewhere`)).body.code).toBe('ROUTE_REFUSED')
  })

  it('is bounded in size, and no cookie of this origin goes on', async () => {
    let seen: IncomingMessage | undefined
    const service = await serve((request, response) => {
      seen = request
      response.setHeader('set-cookie', 'a=1').setHeader('content-type', 'application/json').end('{}')
    })
    const { url } = await startBefore(service, { bodyLimit: 1_000 })
    const body = { videos: Array.from({ length: 100 }, () => VIDEO) }
    expect((await ask(`${url}/api/stats/collections/a`, 'PUT', { body })).body.code).toBe('BODY_TOO_LARGE')
    expect(seen).toBeUndefined()
    const reply = await ask(`${url}/api/stats/collections`, 'GET', { headers: { cookie: 'a=b', 'x-other': '1' } })
    expect(seen!.headers).not.toMatchObject({ cookie: 'a=b' })
    expect(seen!.headers['x-other']).toBeUndefined()
    expect(reply.headers.get('set-cookie')).toBeNull()
  })

  it('streams as it comes, with where the page was, and ends there when the page leaves', async () => {
    const streams: { request: IncomingMessage; response: ServerResponse }[] = []
    const service = await serve((request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('id: a-1\n\n')
      streams.push({ request, response })
    })
    const { url, stop } = await startBefore(service, { maxStreams: 2 })
    const leaving = new AbortController()
    const open = (signal?: AbortSignal) =>
      fetch(`${url}/api/sse/wait?match=*&lastEventId=a-0`, {
        headers: { 'last-event-id': 'a-0' },
        signal: signal ?? null,
      })
    const reader = (await open(leaving.signal)).body!.getReader()
    const read = async (from = reader) => Buffer.from((await from.read()).value ?? '').toString()
    expect(await read()).toBe('id: a-1\n\n')
    expect(streams[0]!.request.url).toBe('/wait?match=*&lastEventId=a-0')
    expect(streams[0]!.request.headers['last-event-id']).toBe('a-0')
    streams[0]!.response.write('data: 1\n\n')
    expect(await read()).toBe('data: 1\n\n')

    const other = (await open()).body!.getReader()
    expect(await read(other)).toBe('id: a-1\n\n')
    expect(await (await open()).json()).toMatchObject({ code: 'TOO_MANY_STREAMS' })
    leaving.abort()
    await until(() => streams[0]!.response.destroyed && streams[2]!.response.destroyed)
    // A service that stops ends its streams, so that nobody waits for them.
    expect(await stop()).toBe(true)
    expect(await read(other)).toBe('')
    await until(() => streams[1]!.response.destroyed)
  })
})

describe('where tokens are set', () => {
  const signIn = async (url: string, token: string, headers = {}) => {
    const reply = await ask(`${url}/session`, 'POST', { body: { token }, headers })
    return { ...reply, cookie: reply.headers.get('set-cookie')?.split(';')[0] ?? '' }
  }

  it('nothing is told or done without one; who signs in may do what it is for', async () => {
    const { url } = await startHouse({ all: TOKENS })
    const list = `${url}/api/stats/collections`
    expect((await ask(`${url}/`)).status).toBe(200)
    expect((await ask(`${url}/session`)).body).toMatchObject({ needed: true })
    expect((await ask(`${url}/session`)).body.role).toBeUndefined()
    for (const path of ['/api/stats/collections', '/api/sse/wait?topic=a', '/links?campaign=a', '/metrics'])
      expect([path, (await ask(url + path)).status]).toEqual([path, 401])

    const wrong = await signIn(url, 'for change')
    expect([wrong.body.code, wrong.cookie]).toEqual(['TOKEN_WRONG', ''])
    const editor = await signIn(url, TOKENS.apiToken)
    expect(editor.headers.get('set-cookie')).toMatch(/; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict$/)
    expect(editor.headers.get('set-cookie')).not.toContain(TOKENS.apiToken)
    const cookie = { cookie: editor.cookie }
    expect((await ask(list, 'GET', { headers: cookie })).status).toBe(200)
    const put = (headers: Record<string, string>) => ask(`${list}/a`, 'PUT', { headers, body: { videos: [VIDEO] } })
    expect((await put({ ...cookie, origin: url })).status).toBe(201)

    const reader = await signIn(url, TOKENS.readToken)
    expect((await ask(list, 'GET', { headers: { cookie: reader.cookie } })).status).toBe(200)
    expect((await put({ cookie: reader.cookie, origin: url })).body.code).toBe('SIGN_IN_NEEDED')
    // A program shows the token itself.
    expect((await put({ authorization: `Bearer ${TOKENS.apiToken}` })).status).toBe(200)
    expect((await put({ authorization: 'Bearer nonsense' })).status).toBe(401)
    const out = await ask(`${url}/session`, 'DELETE', { headers: cookie })
    expect(out.headers.get('set-cookie')).toMatch(/^dashboard_session=; .*Max-Age=0/)
  })

  it('a backup, which has the signing key, needs the token for changes, or the only one', async () => {
    for (const [settings, right, wrong] of [
      [TOKENS, TOKENS.apiToken, TOKENS.readToken],
      [{ readToken: TOKENS.readToken }, TOKENS.readToken, 'nonsense'],
      [{ apiToken: TOKENS.apiToken }, TOKENS.apiToken, 'nonsense'],
    ] as const) {
      const { url } = await startBefore(DEAD, settings)
      const statusWith = async (headers: Record<string, string>) =>
        (await ask(`${url}/backup`, 'GET', { headers })).status
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
    const { url } = await startHouse({ all: TOKENS })
    const { cookie } = await signIn(url, TOKENS.apiToken)
    for (const [method, path] of [
      ['DELETE', '/api/stats/collections/a'],
      ['POST', '/links'],
      ['DELETE', '/links/a'],
    ] as const) {
      const body = method === 'POST' ? { body: { campaign: 'a' } } : {}
      const reply = await ask(url + path, method, { headers: { cookie, ...headers }, ...body })
      expect([path, reply.body.code]).toEqual([path, code])
    }
    if (code === 'CROSS_SITE') expect((await signIn(url, TOKENS.apiToken, headers)).body.code).toBe('CROSS_SITE')
  })

  it('a session ends by itself, with other tokens, and when it is touched', async () => {
    const { url, restart } = await startHouse({ all: TOKENS, dashboard: { sessionDays: 1 } })
    const { cookie } = await signIn(url, TOKENS.readToken)
    const roleWith = async (sent: string, at = url) =>
      (await ask(`${at}/session`, 'GET', { headers: { cookie: sent } })).body.role
    expect(await roleWith(cookie)).toBe('reader')
    expect(await roleWith(`${cookie}x`)).toBeUndefined()
    const present = aDayLater()
    expect(await roleWith(cookie)).toBeUndefined()
    present()
    expect(await roleWith(cookie, await restart())).toBe('reader')
    expect(await roleWith(cookie, await restart({ readToken: 'another' }))).toBeUndefined()
  })
})

describe('a link for the client', () => {
  it('shows one campaign without its cost, and nothing else; survives a restart; ends when it is revoked', async () => {
    const house = await startHouse({ all: TOKENS })
    const { stats, restart } = house
    await stats.put('mine', { videos: [VIDEO], name: 'Mine', cost: 100, currency: 'EUR', tags: ['secret'] })
    await stats.put('other', { videos: [VIDEO] })
    const headers = { authorization: `Bearer ${TOKENS.apiToken}` }
    const made = await ask(`${house.url}/links`, 'POST', { headers, body: { campaign: 'mine', days: 7 } })
    expect(made.status).toBe(201)
    const { id, path } = made.body
    const url = await restart()
    expect((await ask(`${url}/links?campaign=mine`, 'GET', { headers })).body.links).toEqual([made.body])
    expect((await ask(`${url}/links?campaign=other`, 'GET', { headers })).body.links).toEqual([])

    const shown = await ask(`${url}${path}/campaign`)
    expect(shown.body).toMatchObject({ id: 'mine', name: 'Mine', stats: { videos: 1 } })
    for (const hidden of ['cost', 'costs', 'currency', 'tags']) expect(shown.body).not.toHaveProperty(hidden)
    expect((await ask(`${url}${path}/videos`)).body.videos).toHaveLength(1)
    expect((await ask(`${url}${path}/history?step=60`)).body.points).toHaveLength(1)
    for (const below of ['', '/stats/../../other', '/export', '/collections/other'])
      expect((await ask(url + path + below)).body?.videos).toBeUndefined()
    for (const odd of ['/shared/nonsense/campaign', `${path}x/campaign`])
      expect((await ask(url + odd)).body.code).toBe('LINK_UNKNOWN')

    const stream = (await fetch(`${url}${path}/wait`)).body!.getReader()
    expect((await stream.read()).done).toBe(false)
    expect((await ask(`${url}/links/${id}`, 'DELETE', { headers })).status).toBe(204)
    expect((await stream.read()).done).toBe(true)
    expect((await ask(`${url}${path}/campaign`)).body.code).toBe('LINK_EXPIRED')
    expect((await ask(`${url}/links/${id}`, 'DELETE', { headers })).body.code).toBe('LINK_UNKNOWN')
    expect((await ask(`${await restart()}${path}/campaign`)).body.code).toBe('LINK_EXPIRED')
  })

  it('is made for a campaign that exists, and with an id of 128 characters, too', async () => {
    const { url, stats } = await startHouse()
    const make = (campaign: string) => ask(`${url}/links`, 'POST', { body: { campaign } })
    const unknown = await make('none')
    expect([unknown.status, unknown.body.code]).toEqual([404, 'COLLECTION_NOT_FOUND'])
    const long = 'a'.repeat(128)
    await stats.put(long, { videos: [VIDEO] })
    const made = await make(long)
    expect(made.status).toBe(201)
    expect((await ask(`${url}${made.body.path}/campaign`)).body).toMatchObject({ id: long, videos: [VIDEO] })
    expect((await ask(`${url}${made.body.path}/history?step=60`)).status).toBe(200)
    const stream = await fetch(`${url}${made.body.path}/wait`)
    expect([stream.status, stream.headers.get('content-type')]).toEqual([
      200,
      expect.stringMatching(/^text.event-stream/),
    ])
    await stream.body!.cancel()
    const away = await startBefore(DEAD)
    expect((await ask(`${away.url}/links`, 'POST', { body: { campaign: 'a' } })).body.code).toBe('SERVICE_UNREACHABLE')
  })

  it('ends with its campaign: another campaign of the same id shows nothing through it', async () => {
    const { url, stats } = await startHouse()
    await stats.put('two', { videos: [VIDEO], name: 'Before' })
    const make = async () => (await ask(`${url}/links`, 'POST', { body: { campaign: 'two' } })).body
    const old = await make()
    // An edit is no other campaign.
    await stats.put('two', { videos: [VIDEO], name: 'Edited' })
    await stats.patch('two', { tags: ['a'] })
    expect((await ask(`${url}${old.path}/campaign`)).body).toMatchObject({ name: 'Edited' })
    const stream = (await fetch(`${url}${old.path}/wait`)).body!.getReader()
    expect((await stream.read()).done).toBe(false)

    await stats.delete('two')
    await stats.put('two', { videos: [OTHER_VIDEO], name: 'Of another client' })
    const fresh = await make()
    for (const below of ['/campaign', '/stats', '/videos', '/history?step=60', '/status', '/wait']) {
      const reply = await ask(url + old.path + below)
      expect([below, reply.status, reply.body.code]).toEqual([below, 410, 'LINK_EXPIRED'])
      expect(reply.body.detail).toMatch(/^The campaign of this link was deleted\..*\.$/)
    }
    // What the open stream sends until it ends is of the old campaign.
    let rest = ''
    for (let part; !(part = await stream.read()).done;) rest += Buffer.from(part.value).toString()
    expect(rest).not.toContain(OTHER_VIDEO)
    expect((await ask(`${url}${fresh.path}/campaign`)).body).toMatchObject({ name: 'Of another client' })

    const list = async (query = '') => (await ask(`${url}/links${query}`)).body
    const rowOf = ({ id }: { id: string }, state: string, name: string) => ({ id, campaign: 'two', state, name })
    const both = [rowOf(fresh, 'valid', 'Of another client'), rowOf(old, 'deleted', 'Before')]
    expect(await list('?campaign=two')).toMatchObject({ links: both })
    await stats.delete('two')
    const deleted = both.map((row) => ({ ...row, state: 'deleted' }))
    expect(await list()).toMatchObject({ links: deleted })
    const first = await list('?limit=1')
    expect(first).toMatchObject({ links: [deleted[0]], next: expect.any(String) })
    expect(await list(`?limit=1&after=${first.next}`)).toEqual({ links: [expect.objectContaining(deleted[1]!)] })
    expect((await ask(`${url}/links/${old.id}`, 'DELETE')).status).toBe(204)
    expect((await list()).links).toHaveLength(1)
  })

  it('of an older version, which recorded no creation, shows the campaign unless it is younger than the link', async () => {
    const { url, stats, restart, data } = await startHouse()
    await stats.put('old', { videos: [VIDEO] })
    await stats.put('young', { videos: [VIDEO] })
    const make = async (campaign: string) => (await ask(`${url}/links`, 'POST', { body: { campaign } })).body
    const links = [await make('old'), await make('young')]
    const [shown, hidden] = links
    const later = await restart(undefined, async () => {
      const db = await openLevel(data, { service: 'dashboard', format: 1 })
      for (const { id } of links) {
        const { birth, ...stored } = JSON.parse((await db.get(`links/${id}`))!)
        expect(birth).not.toBe('')
        const row = id === hidden.id ? { ...stored, created: Date.parse(birth) - 1 } : stored
        await db.put(`links/${id}`, JSON.stringify(row))
      }
      await db.close()
    })
    const rows = (await ask(`${later}/links`)).body.links
    const pathOf = (id: string) => rows.find((row: { id: string }) => row.id === id).path
    expect((await ask(`${later}${pathOf(shown.id)}/campaign`)).status).toBe(200)
    expect((await ask(`${later}${pathOf(hidden.id)}/campaign`)).body.code).toBe('LINK_EXPIRED')
  })

  it('is not judged while stats is unavailable', async () => {
    const house = await startHouse()
    await house.stats.put('mine', { videos: [VIDEO] })
    const { path } = (await ask(`${house.url}/links`, 'POST', { body: { campaign: 'mine' } })).body
    const url = await house.restart({ statsUri: DEAD })
    expect((await ask(`${url}/links`)).body.links).toMatchObject([{ campaign: 'mine', state: 'unknown' }])
    expect((await ask(`${url}${path}/campaign`)).body.code).toBe('SERVICE_UNREACHABLE')
    expect((await ask(`${await house.restart()}${path}/campaign`)).status).toBe(200)
  })

  it('ends by itself', async () => {
    const { url, stats, restart } = await startHouse()
    await stats.put('mine', { videos: [VIDEO] })
    const { path } = (await ask(`${url}/links`, 'POST', { body: { campaign: 'mine', days: 1 } })).body
    expect((await ask(`${url}${path}/campaign`)).status).toBe(200)
    aDayLater()
    expect((await ask(`${url}${path}/campaign`)).body.code).toBe('LINK_EXPIRED')
    expect((await ask(`${url}/links?campaign=mine`)).body.links).toEqual([])
    // Forgotten by then.
    const later = await restart()
    expect((await ask(`${later}/metrics`)).text).toMatch(/^dashboard_links 0$/m)
  })

  it.each([
    { campaign: 'a', days: 0 },
    { campaign: 'a', days: 366 },
    { campaign: 'a/../b' },
    { campaign: '.' },
    { campaign: '..' },
    { campaign: 'a'.repeat(129) },
    { days: 1 },
    { campaign: 'a', more: 1 },
  ])('is not made of %j', async (body) => {
    const { url } = await startBefore(DEAD)
    expect((await ask(`${url}/links`, 'POST', { body })).body.code).toBe('VALIDATION_FAILED')
  })
})

describe('demo campaigns', () => {
  it('are there at the first start beside the stand-in, and stay away once they were deleted', async () => {
    const { stats, restart } = await startHouse({ dashboard: { demo: 'on' } })
    const names = async () => (await stats.list()).collections.map(({ name }) => name)
    const made = await until(async () => {
      const found = await names()
      return found.length === 3 && found
    })
    expect(made.every((name) => name?.startsWith('Demo'))).toBe(true)
    for (const { id } of (await stats.list()).collections) await stats.delete(id)
    await restart()
    const url = await restart()
    expect((await ask(`${url}/session`)).body).toMatchObject({ source: 'stand-in', role: 'editor' })
    expect(await names()).toEqual([])
  })

  const makeDemoOf = (statsUrl: string) =>
    makeDemo({ ...configOf(dashboard), statsUri: statsUrl } as DashboardConfig, new AbortController().signal)

  it('are created also if a campaign was there before, and replace none', async () => {
    const { stats, statsUrl } = await startHouse()
    await stats.put('mine', { videos: [] })
    await stats.put('demo-city', { videos: [], name: 'My own' })
    expect(await makeDemoOf(statsUrl)).toBe(true)
    const rows = (await stats.list()).collections
    expect(rows.map(({ id }) => id)).toEqual(['demo-books', 'demo-city', 'demo-summer', 'mine'])
    expect(rows[1]).toMatchObject({ name: 'My own', videos: [] })
  })

  it('are not created if the numbers come from an API, a gateway to it included', async () => {
    const { stats, statsUrl, url } = await startHouse({ source: 'gateway', dashboard: { demo: 'on' } })
    expect(await makeDemoOf(statsUrl)).toBe(false)
    expect((await stats.list()).collections).toEqual([])
    expect((await ask(`${url}/session`)).body.source).toBe('youtube')
  })
})

it('what was measured is shown apart from this origin, and nothing else of the disk is', async () => {
  const { url } = await startBefore('http://127.0.0.1:1')
  const { body } = await ask(`${url}/measured`)
  expect(body.paths).toContain('bench/report.html')
  expect(body.paths.filter((path: string) => !/^(bench\/report|flame\/\w+(\/[\w-]+){3})\.html$/.test(path))).toEqual([])
  for (const path of [body.paths[0], body.paths.at(-1)]) {
    const { status, headers, text } = await ask(`${url}/measured/${path}`)
    expect([status, headers.get('content-type'), text.slice(0, 15)]).toEqual([
      200,
      'text/html; charset=utf-8',
      '<!doctype html>',
    ])
    expect(headers.get('content-security-policy')).toMatch(/^sandbox allow-scripts; default-src 'none'/)
  }
  for (const path of ['package.json', 'bench/../package.json', 'bench%2F..%2Fpackage.json', 'flame/README.md', ''])
    expect((await ask(`${url}/measured/${path}`)).status).toBe(404)
})
