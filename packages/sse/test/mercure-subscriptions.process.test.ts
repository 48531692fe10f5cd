import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { createMercureClient, HUB } from './support/mercure-client.ts'
import { MERCURE, SECRET, sign, signAll, toBearerHeader } from './support/sign-tokens.ts'
import { startSse } from './support/test-sse.ts'

const API = `${HUB}/subscriptions`
const DETAIL = { type: 'https://mercure.rocks/authorization-detail', actions: ['subscribe'] }
const PATTERN = 'https://x.example/:id'

describe('active subscriptions of the draft', () => {
  it('are private events of type `mercure`, and are listed by the API, for all threads', async () => {
    const sse = await startSse({ ...MERCURE, mercureSubscriptions: 'on', threads: 2 })
    const { subscribe } = createMercureClient(sse)
    const watch = toBearerHeader(await sign({ subscribe: [{ match: `${API}/*`, match_type: 'urlpattern' }, API] }))
    const [watcher] = await subscribe(`?match_urlpattern=${API}/*`, watch)
    const [stranger] = await subscribe('?match=*', toBearerHeader(await sign({ subscribe: ['a'] })))
    const details = [
      { ...DETAIL, topics: [{ match: 'a' }], payload: { name: 'first' } },
      { ...DETAIL, topics: [{ match: '*' }], payload: { name: 'other' } },
    ]
    const token = toBearerHeader(await signAll({ claims: { authorization_details: details } }))
    const stream = await sse.open(`?match=a&match_urlpattern=${encodeURIComponent(PATTERN)}`, {
      path: HUB,
      headers: token,
    })
    const read = () => watcher!.events.filter(({ data }) => JSON.parse(data).payload)
    await waitUntil(() => read().length === 2)
    const documents = read().map(({ data }) => JSON.parse(data))
    const { subscriber } = documents[0]
    expect(subscriber).toMatch(/^urn:uuid:/)
    expect(read().every(({ type }) => type === 'mercure')).toBe(true)
    expect(documents).toEqual([
      {
        id: `${API}/exact/a/${encodeURIComponent(subscriber)}`,
        type: 'subscription',
        match_type: 'exact',
        match: 'a',
        subscriber,
        active: true,
        payload: { name: 'first' },
      },
      {
        id: `${API}/urlpattern/${encodeURIComponent(PATTERN)}/${encodeURIComponent(subscriber)}`,
        type: 'subscription',
        match_type: 'urlpattern',
        match: PATTERN,
        subscriber,
        active: true,
        payload: { name: 'other' },
      },
    ])
    const all = await sse.request('GET', API, { headers: watch })
    expect(all.headers.get('link')).toMatch(
      /^<\/.well-known\/mercure>; rel="mercure"; last-event-id="#[^"]+"; type="mercure"/,
    )
    expect(all.headers.get('content-type')).toMatch(/^application\/json/)
    expect(all.body).toMatchObject({ id: API, type: 'subscriptions' })
    expect(all.body.subscriptions).toHaveLength(6)
    for (const document of documents) {
      expect(all.body.subscriptions).toContainEqual(document)
      expect((await sse.request('GET', document.id, { headers: watch })).body).toEqual(document)
    }
    const ofPattern = await sse.request('GET', `${API}/urlpattern/${encodeURIComponent(PATTERN)}`, { headers: watch })
    expect(ofPattern.body.subscriptions).toEqual([documents[1]])
    stream.socket.destroy()
    await waitUntil(() => read().length === 4)
    expect(
      read()
        .slice(2)
        .map(({ data }) => JSON.parse(data)),
    ).toEqual(documents.map((one) => ({ ...one, active: false })))
    expect((await sse.request('GET', documents[0].id, { headers: watch })).status).toBe(404)
    expect(stranger!.events).toEqual([])
  })

  it('need a token that allows their URL, and the setting', async () => {
    const sse = await startSse({ ...MERCURE, mercureSubscriptions: 'on' })
    const status = async (headers: Record<string, string>) => (await sse.request('GET', API, { headers })).status
    expect(await status({})).toBe(401)
    expect(await status(toBearerHeader('x'))).toBe(401)
    expect(await status(toBearerHeader(await sign({ subscribe: ['a'], publish: ['*'] })))).toBe(403)
    expect(await status(toBearerHeader(await sign({ subscribe: [API] })))).toBe(200)
    const off = await startSse(MERCURE)
    expect((await off.request('GET', API, { headers: toBearerHeader(await signAll()) })).status).toBe(404)
  })
})

describe('active subscriptions of Mercure 0.x', () => {
  it('have its documents, with the payload of the token', async () => {
    const sse = await startSse({
      mercureCompatibility: '8',
      mercureJwtKey: SECRET,
      mercureSubscriptions: 'on',
      broker: 'local',
    })
    const { subscribe } = createMercureClient(sse)
    const signLegacy = async (claim: object) =>
      toBearerHeader(
        await new SignJWT({ mercure: claim }).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(SECRET)),
      )
    const watch = await signLegacy({ subscribe: [`${API}{/topic}{/subscriber}`] })
    const [watcher] = await subscribe(`?topic=${encodeURIComponent(`${API}/{topic}/{subscriber}`)}`, watch)
    const template = 'https://x.example/{id}'
    const stream = await sse.open(`?topic=${encodeURIComponent(template)}`, {
      path: HUB,
      headers: await signLegacy({ subscribe: ['x'], payload: { user: 1 } }),
    })
    const read = () => watcher!.events.filter(({ data }) => JSON.parse(data).topic === template)
    await waitUntil(() => read().length === 1)
    const { '@context': context, ...document } = JSON.parse(read()[0]!.data)
    const { subscriber } = document
    expect(context).toBe('https://mercure.rocks/')
    expect(read()[0]!.type).toBe('message')
    expect(document).toEqual({
      id: `${API}/${encodeURIComponent(template)}/${encodeURIComponent(subscriber)}`,
      type: 'Subscription',
      topic: template,
      subscriber,
      active: true,
      payload: { user: 1 },
    })
    const all = await sse.request('GET', API, { headers: watch })
    expect(all.headers.get('content-type')).toMatch(/^application\/ld\+json/)
    expect(all.headers.get('link')).toBe('</.well-known/mercure>; rel="mercure"')
    expect(all.body).toMatchObject({
      '@context': context,
      id: API,
      type: 'Subscriptions',
      lastEventID: expect.stringMatching(/^#/),
    })
    expect(all.body.subscriptions).toContainEqual(document)
    const one = await sse.request('GET', document.id, { headers: watch })
    expect(one.body).toMatchObject({ ...document, lastEventID: expect.any(String) })
    stream.socket.destroy()
    await waitUntil(() => read().length === 2)
    expect(JSON.parse(read()[1]!.data)).toMatchObject({ id: document.id, active: false })
  })
})
