import { findFreePort } from '@influencer-stats/runtime/testing/free-port'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { VideoClientOptions, VideoClient, VideoDetailsSink } from '../src/youtube/video-client.ts'
import type { VideoDetails } from '../src/core/video-details.ts'
import { createSilentLogger } from '../src/logger/silent.ts'
import { ApiKeys } from '../src/youtube/api-keys.ts'
import { QuotaMeter } from '../src/quota/quota-meter.ts'
import { dripping, failing, flooding, hanging, numbers, startFakeYoutube } from './support/fake-youtube.ts'
import { SAMPLE_VIDEOS, startStandIn, type TestStandIn } from './support/stand-in.ts'

export interface ClientTraits {
  /** Number of calls for this number of videos. */
  readonly callsFor: (videos: number) => number
}

const sample = { views: 261_734, likes: 14_237, comments: 451, dislikes: 928 }
const unavailable = { code: 'UPSTREAM_UNAVAILABLE' }
const createIds = (n: number) => Array.from({ length: n }, (_, i) => `${String(i).padStart(10, '0')}A`)

/** Returns the URL of a port on which no server listens. */
const findClosedUrl = async () => `http://127.0.0.1:${await findFreePort()}`

/** Conformance suite of every client, against the stand-in and its faults. */
export function testVideoClient(
  name: string,
  create: (options: VideoClientOptions) => Promise<VideoClient>,
  { callsFor: countCalls }: ClientTraits,
): void {
  describe(`client ${name}`, () => {
    let standIn: TestStandIn
    let client: VideoClient
    let meter: QuotaMeter
    const options = (more: Partial<VideoClientOptions> = {}): VideoClientOptions => ({
      uri: standIn.url,
      keys: new ApiKeys({ text: 'stand-in' }),
      // Only ends a call that hangs: a busy machine may take seconds for 150 calls.
      timeout: 30_000,
      connections: 4,
      meter,
      logger: createSilentLogger(),
      ...more,
    })

    beforeAll(async () => {
      standIn = await startStandIn()
    })
    afterAll(() => standIn.stop())
    beforeEach(async () => {
      await standIn.control.clearFaults()
      await standIn.control.resetCounts()
      meter = new QuotaMeter(QuotaMeter.createMemory(), 0)
      client = await create(options())
    })
    afterEach(() => client.close())

    it('returns the numbers of videos, without those that YouTube does not know', async () => {
      const { found, failed } = await client.fetch([...SAMPLE_VIDEOS, 'gone_video_'])
      expect(failed).toEqual([])
      expect(found.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual(SAMPLE_VIDEOS.map((id) => ({ id, ...sample })))
      expect(await client.fetch([])).toEqual({ found: [], failed: [] })
    })

    it('requests details if they are needed, at no further cost, and passes them on with the ids of each call', async () => {
      const taken: { ids: readonly string[]; details: readonly VideoDetails[] }[] = []
      let needsDetails = true
      const recorder: VideoDetailsSink = {
        needsDetails: () => needsDetails,
        recordDetails: (ids, details) => void taken.push({ ids, details }),
      }
      const recording = await create(options({ recorder }))
      const ids = [...createIds(59), 'gone_video_']
      const before = Date.now()
      for (needsDetails of [true, false]) {
        const { found } = await recording.fetch(ids)
        expect(found).toHaveLength(59)
        expect(taken.flatMap((one) => one.ids).toSorted()).toEqual(needsDetails ? ids.toSorted() : [])
        const details = taken.flatMap((one) => one.details)
        expect(details.map(({ id }) => id).toSorted()).toEqual(needsDetails ? createIds(59) : [])
        for (const one of details) {
          const { title, channel, channelId, publishedAt, asOf } = one
          expect([title, channel, channelId, Date.parse(publishedAt!)]).toEqual([
            expect.stringMatching(/#/),
            expect.stringMatching(/^Channel /),
            expect.stringMatching(/^UC/),
            expect.any(Number),
          ])
          expect(asOf).toBeGreaterThanOrEqual(before)
        }
        taken.length = 0
      }
      expect(meter.used).toBe(2 * countCalls(60))
      await recording.close()
    })

    it('requests any number of videos, and takes a unit of the quota for each call', async () => {
      const ids = createIds(120)
      const { found } = await client.fetch(ids)
      expect(found.map(({ id }) => id).toSorted()).toEqual(ids)
      expect(await standIn.control.getCounts()).toMatchObject({ calls: countCalls(120), ids: 120 })
      expect(meter.used).toBe(countCalls(120))
    })

    it('makes no call that the budget does not allow', async () => {
      const poor = await create(options({ meter: new QuotaMeter(QuotaMeter.createMemory(), 1) }))
      await poor.fetch([SAMPLE_VIDEOS[0]!])
      await expect(poor.call([SAMPLE_VIDEOS[1]!])).rejects.toMatchObject(unavailable)
      const refused = await poor.fetch([SAMPLE_VIDEOS[1]!])
      expect(refused).toMatchObject({ found: [], failed: [SAMPLE_VIDEOS[1]], fault: unavailable })
      expect((await standIn.control.getCounts()).calls).toBe(1)
      await poor.close()
    })

    it.each([
      ['out of quota', { quotaLeft: 0 }],
      ['failing', { errorRate: 1, errorStatus: 500 }],
      ['cut', { cut: 'before' as const }],
      ['cut halfway', { cut: 'halfway' as const }],
      ['talking nonsense', { malformed: true }],
    ])('reports that YouTube is %s, and recovers', async (_, faults) => {
      await standIn.control.setFaults(faults)
      expect(await client.fetch(SAMPLE_VIDEOS)).toMatchObject({ found: [], failed: SAMPLE_VIDEOS, fault: unavailable })
      await standIn.control.clearFaults()
      expect((await client.fetch(SAMPLE_VIDEOS)).found).toHaveLength(3)
    })

    it('has a timeout', async () => {
      const hasty = await create(options({ timeout: 100 }))
      await standIn.control.setFaults({ hang: true })
      expect(await hasty.fetch(SAMPLE_VIDEOS)).toMatchObject({ failed: SAMPLE_VIDEOS, fault: unavailable })
      await hasty.close()
    })

    it.each([
      ['drips', dripping],
      ['floods', flooding],
      ['says nothing', hanging],
    ])('aborts a call whose reply %s, and continues', async (_, endless) => {
      const youtube = await startFakeYoutube()
      const hasty = await create(options({ uri: youtube.url, timeout: 500, connections: 1 }))
      // On an open connection, a busy machine sends the next call before its timeout.
      await waitUntil(async () => (await hasty.fetch([SAMPLE_VIDEOS[0]!])).found.length === 1)
      const { used } = meter
      youtube.handler = endless
      expect(await hasty.fetch([SAMPLE_VIDEOS[0]!])).toMatchObject({ failed: [SAMPLE_VIDEOS[0]], fault: unavailable })
      expect(meter.used).toBe(used + 1)
      youtube.handler = numbers
      await waitUntil(async () => (await hasty.fetch([SAMPLE_VIDEOS[0]!])).found.length === 1)
      await hasty.close()
    })

    it('refuses a reply that is larger than the limit', async () => {
      const youtube = await startFakeYoutube()
      youtube.handler = (_, reply) => reply.end(`{"items":[${' '.repeat(1_100_000)}]}`)
      const small = await create(options({ uri: youtube.url }))
      expect(await small.fetch([SAMPLE_VIDEOS[0]!])).toMatchObject({ found: [], fault: unavailable })
      await small.close()
    })

    it.each([
      ['an id', (text: string) => text.replace('"id":"', '"id":"\xff')],
      ['the name of a field', (text: string) => text.replace('"statistics"', '"statist\xf8cs"')],
      ['an id that stays text', (text: string) => text.replace('"id":"-', '"id":"_')],
    ])('treats a reply in which the network has changed %s as a fault, not as a removed video', async (_, spoil) => {
      const youtube = await startFakeYoutube()
      const [id] = SAMPLE_VIDEOS
      const item = JSON.stringify({ items: [{ id, statistics: { viewCount: '1' } }] })
      youtube.handler = (_, reply) => reply.end(Buffer.from(spoil(item), 'latin1'))
      const client = await create(options({ uri: youtube.url }))
      expect(await client.fetch([id!])).toMatchObject({ found: [], failed: [id], fault: unavailable })
      await client.close()
    })

    it('follows no redirect, so that the key reaches no other server', async () => {
      const [target, youtube] = [await startFakeYoutube(), await startFakeYoutube()]
      const location = `${target.url}/youtube/v3/videos?id=${SAMPLE_VIDEOS[0]}`
      youtube.handler = (_, reply) => reply.writeHead(302, { location }).end()
      const redirected = await create(options({ uri: youtube.url }))
      const { failed, fault } = await redirected.fetch([SAMPLE_VIDEOS[0]!])
      expect([failed, fault]).toMatchObject([[SAMPLE_VIDEOS[0]], unavailable])
      expect(String(fault)).toMatch(/302/)
      expect(target.calls).toEqual([])
      await redirected.close()
    })

    it('takes no unit of the quota for a call that never reached YouTube', async () => {
      for (const uri of [await findClosedUrl(), 'http://nobody.invalid']) {
        const lost = await create(options({ uri }))
        await lost.fetch(SAMPLE_VIDEOS)
        await lost.close()
      }
      expect(meter.used).toBe(0)
    })

    it('persists the count of a call before it makes it', async () => {
      const youtube = await startFakeYoutube()
      const saved = Promise.withResolvers<void>()
      const requested = Promise.withResolvers<void>()
      const save = () => {
        requested.resolve()
        return saved.promise
      }
      const careful = new QuotaMeter(QuotaMeter.createMemory(), 0, { save })
      const counting = await create(options({ uri: youtube.url, meter: careful }))
      const fetching = counting.fetch([SAMPLE_VIDEOS[0]!])
      await requested.promise
      expect(careful.used).toBe(1)
      // A call that did not wait would arrive before this one.
      await fetch(`${youtube.url}/?id=other`)
      expect(youtube.calls).toEqual([['other']])
      saved.resolve()
      expect((await fetching).found).toHaveLength(1)
      await counting.close()
    })

    it('returns the results of the successful calls, and lists the ids of the others', async () => {
      const youtube = await startFakeYoutube()
      const ids = createIds(120)
      youtube.handler = (requested, reply) => (requested.includes(ids[119]!) ? failing : numbers)(requested, reply)
      const some = await create(options({ uri: youtube.url }))
      const { found, failed, fault } = await some.fetch(ids)
      expect(fault).toMatchObject(unavailable)
      expect(failed).toContain(ids[119])
      expect(failed.length).toBeLessThanOrEqual(20)
      expect([...found.map(({ id }) => id), ...failed].toSorted()).toEqual(ids)
      await some.close()
    })

    it('reports that the server is down or the key is wrong, without showing the key', async () => {
      const lost = await create(options({ uri: 'http://127.0.0.1:9' }))
      expect(await lost.fetch(SAMPLE_VIDEOS)).toMatchObject({ failed: SAMPLE_VIDEOS, fault: unavailable })
      await lost.close()
      const wrong = await create(options({ keys: new ApiKeys({ text: 'a-secret' }) }))
      const { fault: error } = await wrong.fetch(SAMPLE_VIDEOS)
      expect(error).toMatchObject({ ...unavailable, message: expect.stringContaining('keyInvalid') })
      expect(JSON.stringify(error)).not.toContain('a-secret')
      await wrong.close()
    })

    it('accepts many concurrent calls, and can be closed twice', async () => {
      const found = await Promise.all(Array.from({ length: 50 }, () => client.fetch(SAMPLE_VIDEOS)))
      for (const one of found) expect(one.found).toHaveLength(3)
      await client.close()
      await client.close()
    })
  })
}
