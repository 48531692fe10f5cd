import { openLevel } from '@influencer-stats/runtime/level'
import { describe, expect, it } from 'vitest'
import { sendRequest, startStack } from './support/test-stack.ts'
import { TOKENS } from './support/start-dashboard.ts'

describe('saved views', () => {
  it('are shared by all users, unique by name, and survive a restart until one removes them', async () => {
    const stack = await startStack({ all: TOKENS })
    let { url } = stack
    const as = (token: string) => (method: string, path: string, body?: object) =>
      sendRequest(url + path, method, { headers: { authorization: `Bearer ${token}` }, ...(body && { body }) })
    const [edit, read] = [as(TOKENS.apiToken), as(TOKENS.readToken)]
    const drinks = { name: 'Drinks', sort: '-24h', q: 'spring', tag: 'drinks', archived: true }
    const made = await edit('POST', '/views', drinks)
    expect([made.status, made.body]).toEqual([201, { id: expect.any(String), ...drinks }])
    const [first, second] = await Promise.all([1, 2].map(() => edit('POST', '/views', { name: 'All' })))
    expect([first!.status, second!.status].toSorted()).toEqual([201, 409])
    expect((await edit('POST', '/views', drinks)).body.code).toBe('VIEW_EXISTS')
    expect((await read('POST', '/views', { name: 'Mine' })).status).toBe(401)
    expect((await read('DELETE', `/views/${made.body.id}`)).status).toBe(401)
    expect((await sendRequest(`${url}/views`)).status).toBe(401)
    url = await stack.restart()
    expect((await read('GET', '/views')).body.views).toMatchObject([{ name: 'All' }, drinks])
    expect((await edit('DELETE', `/views/${made.body.id}`)).status).toBe(204)
    expect((await edit('DELETE', `/views/${made.body.id}`)).body.code).toBe('VIEW_UNKNOWN')
    url = await stack.restart()
    expect((await read('GET', '/views')).body.views).toMatchObject([{ name: 'All' }])
  })

  it('are refused beyond 100', async () => {
    const { url } = await startStack()
    const save = (i: number) => sendRequest(`${url}/views`, 'POST', { body: { name: `View ${i}` } })
    for (let i = 0; i < 100; i++) expect((await save(i)).status).toBe(201)
    expect((await save(100)).body.code).toBe('TOO_MANY_VIEWS')
    const { views } = (await sendRequest(`${url}/views`)).body
    await sendRequest(`${url}/views/${views[0].id}`, 'DELETE')
    expect((await save(100)).status).toBe(201)
  })

  it('that are damaged refuse the start', async () => {
    const { restart, data } = await startStack()
    const damage = async () => {
      const db = await openLevel(data, { service: 'dashboard', format: 1 })
      await db.put('views/a', '{"id":"a"}')
      await db.close()
    }
    await expect(restart(undefined, damage)).rejects.toThrow(/views\/a.*damaged/)
  })
})
