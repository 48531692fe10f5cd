import { youtube } from '@googleapis/youtube'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FIXED_COUNTS, FIXED_ID, startStandIn, type StandIn } from './support/stand-in.ts'

let standIn: StandIn
beforeAll(async () => {
  standIn = await startStandIn()
})
afterAll(() => standIn.stop())

const createClient = (key: string) => youtube({ version: 'v3', auth: key, rootUrl: `${standIn.url}/` })

const getReason = (key: string) =>
  createClient(key)
    .videos.list({ part: ['id'], id: [FIXED_ID] })
    .then(undefined, ({ status, response }) => [status, response.data.error.errors[0].reason])

describe('Google’s own client', () => {
  it('reads statistics', async () => {
    const { data, status } = await createClient('stand-in').videos.list({ part: ['statistics'], id: [FIXED_ID] })
    expect(status).toBe(200)
    expect(data.items).toEqual([expect.objectContaining({ id: FIXED_ID, statistics: FIXED_COUNTS })])
  })

  it('reads 50 videos with several parts, zipped, and with selected fields', async () => {
    const ids = Array.from({ length: 50 }, (_, i) => `video-${String(i).padStart(5, '0')}`)
    const { data, headers } = await createClient('stand-in').videos.list({
      part: ['id', 'snippet', 'statistics'],
      id: ids,
      fields: 'items(id,snippet/title,statistics(viewCount))',
    })
    expect(new Headers(headers as Record<string, string>).get('content-encoding')).toBe('gzip')
    expect(data.items?.map((item) => item.id)).toEqual(ids)
    expect(data.items?.[0]?.snippet).toEqual({ title: expect.any(String) })
  })

  it('receives 304 for unchanged data', async () => {
    const client = createClient('stand-in')
    const query = { part: ['statistics'], id: [FIXED_ID] }
    const { data } = await client.videos.list(query)
    const { status } = await client.videos.list(query, { headers: { 'if-none-match': `"${data.etag}"` } })
    expect(status).toBe(304)
  })

  it('understands errors', async () => {
    expect(await getReason('wrong')).toEqual([400, 'keyInvalid'])
    await standIn.control.setFaults({ quotaLeft: 0 })
    expect(await getReason('stand-in')).toEqual([403, 'quotaExceeded'])
  })
})
