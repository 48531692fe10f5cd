import { buildConfig } from '@influencer-stats/runtime/embed'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { describe, expect, it } from 'vitest'
import { createDemo } from '../src/demo-campaigns.ts'
import { dashboard } from '../src/service.ts'
import type { DashboardConfig } from '../src/settings.ts'
import { sendRequest, startStack } from './support/test-stack.ts'

describe('demo campaigns', () => {
  it('are created at the first start with the stand-in, and not again after their deletion', async () => {
    const { stats, restart } = await startStack({ dashboard: { demo: 'on' } })
    const names = async () => (await stats.list()).collections.map(({ name }) => name)
    const made = await waitUntil(async () => {
      const found = await names()
      return found.length === 3 && found
    })
    expect(made.every((name) => name?.startsWith('Demo'))).toBe(true)
    for (const { id } of (await stats.list()).collections) await stats.delete(id)
    await restart()
    const url = await restart()
    expect((await sendRequest(`${url}/session`)).body).toMatchObject({ source: 'stand-in', role: 'editor' })
    expect(await names()).toEqual([])
  })

  const makeDemoOf = (statsUrl: string) =>
    createDemo({ ...buildConfig(dashboard), statsUri: statsUrl } as DashboardConfig, new AbortController().signal)

  it('are created also if another campaign exists, and replace none', async () => {
    const { stats, statsUrl } = await startStack()
    await stats.put('mine', { videos: [] })
    await stats.put('demo-city', { videos: [], name: 'My own' })
    expect(await makeDemoOf(statsUrl)).toBe(true)
    const rows = (await stats.list()).collections
    expect(rows.map(({ id }) => id)).toEqual(['demo-books', 'demo-city', 'demo-summer', 'mine'])
    expect(rows[1]).toMatchObject({ name: 'My own', videos: [] })
    expect(await stats.listPosts('demo-city')).toEqual([])
  })

  it('show fees, a followed channel and posts of other platforms', async () => {
    const { stats, statsUrl } = await startStack()
    await makeDemoOf(statsUrl)
    const { creators } = (await stats.get('demo-summer', ['creators']))!
    expect(creators!.every(({ fee }) => fee! > 0)).toBe(true)
    expect((await stats.getStats('demo-summer'))!.reported).toMatchObject({ posts: 2, impressions: 247_300 })
    // Uploads of the days since the first day of the campaign.
    await waitUntil(async () => Object.keys((await stats.get('demo-books'))!.followed ?? {}).length >= 3)
  })

  it('are not created if the numbers come from an API, a gateway to it included', async () => {
    const { stats, statsUrl, url } = await startStack({ source: 'gateway', dashboard: { demo: 'on' } })
    expect(await makeDemoOf(statsUrl)).toBe(false)
    expect((await stats.list()).collections).toEqual([])
    expect((await sendRequest(`${url}/session`)).body.source).toBe('youtube')
  })
})
