import { openLevel } from '@influencer-stats/runtime/level'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { describe, expect, it } from 'vitest'
import { sendRequest, startStack } from './support/test-stack.ts'
import { UNREACHABLE_URL } from './support/fake-service.ts'
import { advanceOneDay, startDashboard, TOKENS, VIDEO } from './support/start-dashboard.ts'

const OTHER_VIDEO = 'kkHvZ4nIAbF'

describe('a link for the client', () => {
  it('shows only one campaign, without its cost; survives a restart; ends when it is revoked', async () => {
    const stack = await startStack({ all: TOKENS })
    const { stats, restart } = stack
    await stats.put('mine', { videos: [VIDEO], name: 'Mine', cost: 100, currency: 'EUR', tags: ['secret'] })
    await stats.put('other', { videos: [VIDEO] })
    const headers = { authorization: `Bearer ${TOKENS.apiToken}` }
    const made = await sendRequest(`${stack.url}/links`, 'POST', { headers, body: { campaign: 'mine', days: 7 } })
    expect(made.status).toBe(201)
    const { id, path } = made.body
    const url = await restart()
    expect((await sendRequest(`${url}/links?campaign=mine`, 'GET', { headers })).body.links).toEqual([made.body])
    expect((await sendRequest(`${url}/links?campaign=other`, 'GET', { headers })).body.links).toEqual([])

    const shown = await sendRequest(`${url}${path}/campaign`)
    expect(shown.body).toMatchObject({ id: 'mine', name: 'Mine', stats: { videos: 1 } })
    // The page compares it with that of live values.
    expect(shown.body.version).toMatch(/^\d+$/)
    for (const hidden of ['cost', 'costs', 'currency', 'tags']) expect(shown.body).not.toHaveProperty(hidden)
    expect((await sendRequest(`${url}${path}/videos`)).body.videos).toHaveLength(1)
    expect((await sendRequest(`${url}${path}/history?step=60`)).body.points).toHaveLength(1)
    for (const below of ['', '/stats/../../other', '/export', '/collections/other'])
      expect((await sendRequest(url + path + below)).body?.videos).toBeUndefined()
    for (const odd of ['/shared/nonsense/campaign', `${path}x/campaign`])
      expect((await sendRequest(url + odd)).body.code).toBe('LINK_UNKNOWN')

    const stream = (await fetch(`${url}${path}/wait`)).body!.getReader()
    expect((await stream.read()).done).toBe(false)
    expect((await sendRequest(`${url}/links/${id}`, 'DELETE', { headers })).status).toBe(204)
    // Values that were sent before come first.
    await waitUntil(async () => (await stream.read()).done)
    expect((await sendRequest(`${url}${path}/campaign`)).body.code).toBe('LINK_EXPIRED')
    expect((await sendRequest(`${url}/links/${id}`, 'DELETE', { headers })).body.code).toBe('LINK_UNKNOWN')
    expect((await sendRequest(`${await restart()}${path}/campaign`)).body.code).toBe('LINK_EXPIRED')
  })

  it('is created only for a campaign that exists, also with an id of 128 characters', async () => {
    const { url, stats } = await startStack()
    const make = (campaign: string) => sendRequest(`${url}/links`, 'POST', { body: { campaign } })
    const unknown = await make('none')
    expect([unknown.status, unknown.body.code]).toEqual([404, 'COLLECTION_NOT_FOUND'])
    const long = 'a'.repeat(128)
    await stats.put(long, { videos: [VIDEO] })
    const made = await make(long)
    expect(made.status).toBe(201)
    expect((await sendRequest(`${url}${made.body.path}/campaign`)).body).toMatchObject({ id: long, videos: [VIDEO] })
    expect((await sendRequest(`${url}${made.body.path}/history?step=60`)).status).toBe(200)
    const stream = await fetch(`${url}${made.body.path}/wait`)
    expect([stream.status, stream.headers.get('content-type')]).toEqual([
      200,
      expect.stringMatching(/^text.event-stream/),
    ])
    await stream.body!.cancel()
    const unreachable = await startDashboard(UNREACHABLE_URL)
    expect((await sendRequest(`${unreachable.url}/links`, 'POST', { body: { campaign: 'a' } })).body.code).toBe(
      'SERVICE_UNREACHABLE',
    )
  })

  it('ends with its campaign: another campaign of the same id shows nothing through it', async () => {
    const { url, stats } = await startStack()
    await stats.put('two', { videos: [VIDEO], name: 'Before' })
    const make = async () => (await sendRequest(`${url}/links`, 'POST', { body: { campaign: 'two' } })).body
    const old = await make()
    // An edit does not create another campaign.
    await stats.put('two', { videos: [VIDEO], name: 'Edited' })
    await stats.patch('two', { tags: ['a'] })
    expect((await sendRequest(`${url}${old.path}/campaign`)).body).toMatchObject({ name: 'Edited' })
    const stream = (await fetch(`${url}${old.path}/wait`)).body!.getReader()
    expect((await stream.read()).done).toBe(false)

    await stats.delete('two')
    await stats.put('two', { videos: [OTHER_VIDEO], name: 'Of another client' })
    const fresh = await make()
    for (const below of ['/campaign', '/stats', '/videos', '/history?step=60', '/status', '/wait']) {
      const reply = await sendRequest(url + old.path + below)
      expect([below, reply.status, reply.body.code]).toEqual([below, 410, 'LINK_EXPIRED'])
      expect(reply.body.detail).toMatch(/^The campaign of this link was deleted\..*\.$/)
    }
    // The open stream sends only values of the old campaign until it ends.
    let rest = ''
    for (let part; !(part = await stream.read()).done;) rest += Buffer.from(part.value).toString()
    expect(rest).not.toContain(OTHER_VIDEO)
    expect((await sendRequest(`${url}${fresh.path}/campaign`)).body).toMatchObject({ name: 'Of another client' })

    const list = async (query = '') => (await sendRequest(`${url}/links${query}`)).body
    const rowOf = ({ id }: { id: string }, state: string, name: string) => ({ id, campaign: 'two', state, name })
    const both = [rowOf(fresh, 'valid', 'Of another client'), rowOf(old, 'deleted', 'Before')]
    expect(await list('?campaign=two')).toMatchObject({ links: both })
    await stats.delete('two')
    const deleted = both.map((row) => ({ ...row, state: 'deleted' }))
    expect(await list()).toMatchObject({ links: deleted })
    const first = await list('?limit=1')
    expect(first).toMatchObject({ links: [deleted[0]], next: expect.any(String) })
    expect(await list(`?limit=1&after=${first.next}`)).toEqual({ links: [expect.objectContaining(deleted[1]!)] })
    expect((await sendRequest(`${url}/links/${old.id}`, 'DELETE')).status).toBe(204)
    expect((await list()).links).toHaveLength(1)
  })

  it('of an older version, which recorded no creation, shows the campaign unless it is younger than the link', async () => {
    const { url, stats, restart, data } = await startStack()
    await stats.put('old', { videos: [VIDEO] })
    await stats.put('young', { videos: [VIDEO] })
    const make = async (campaign: string) => (await sendRequest(`${url}/links`, 'POST', { body: { campaign } })).body
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
    const rows = (await sendRequest(`${later}/links`)).body.links
    const pathOf = (id: string) => rows.find((row: { id: string }) => row.id === id).path
    expect((await sendRequest(`${later}${pathOf(shown.id)}/campaign`)).status).toBe(200)
    expect((await sendRequest(`${later}${pathOf(hidden.id)}/campaign`)).body.code).toBe('LINK_EXPIRED')
  })

  it('is refused while 10,000 links exist', async () => {
    const { url, stats, restart, data } = await startStack()
    await stats.put('mine', { videos: [VIDEO] })
    const make = (origin: string) => sendRequest(`${origin}/links`, 'POST', { body: { campaign: 'mine' } })
    const { body } = await make(url)
    const later = await restart(undefined, async () => {
      const db = await openLevel(data, { service: 'dashboard', format: 1 })
      const stored = JSON.parse((await db.get(`links/${body.id}`))!)
      const copies = Array.from({ length: 9_999 }, (_, i) => `copy${i}`)
      await db.batch(
        copies.map((id) => ({ type: 'put' as const, key: `links/${id}`, value: JSON.stringify({ ...stored, id }) })),
      )
      await db.close()
    })
    const refused = await make(later)
    expect([refused.status, refused.body.code]).toEqual([409, 'TOO_MANY_LINKS'])
    expect((await sendRequest(`${later}/links/copy1`, 'DELETE')).status).toBe(204)
    expect((await make(later)).status).toBe(201)
  })

  it('has an unknown state while stats is unavailable', async () => {
    const stack = await startStack()
    await stack.stats.put('mine', { videos: [VIDEO] })
    const { path } = (await sendRequest(`${stack.url}/links`, 'POST', { body: { campaign: 'mine' } })).body
    const url = await stack.restart({ statsUri: UNREACHABLE_URL })
    expect((await sendRequest(`${url}/links`)).body.links).toMatchObject([{ campaign: 'mine', state: 'unknown' }])
    expect((await sendRequest(`${url}${path}/campaign`)).body.code).toBe('SERVICE_UNREACHABLE')
    expect((await sendRequest(`${await stack.restart()}${path}/campaign`)).status).toBe(200)
  })

  it('ends when it expires', async () => {
    const { url, stats, restart } = await startStack()
    await stats.put('mine', { videos: [VIDEO] })
    const { path } = (await sendRequest(`${url}/links`, 'POST', { body: { campaign: 'mine', days: 1 } })).body
    expect((await sendRequest(`${url}${path}/campaign`)).status).toBe(200)
    advanceOneDay()
    expect((await sendRequest(`${url}${path}/campaign`)).body.code).toBe('LINK_EXPIRED')
    expect((await sendRequest(`${url}/links?campaign=mine`)).body.links).toEqual([])
    // The link is deleted by this time.
    const later = await restart()
    expect((await sendRequest(`${later}/metrics`)).text).toMatch(/^dashboard_links 0$/m)
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
    const { url } = await startDashboard(UNREACHABLE_URL)
    expect((await sendRequest(`${url}/links`, 'POST', { body })).body.code).toBe('VALIDATION_FAILED')
  })
})
