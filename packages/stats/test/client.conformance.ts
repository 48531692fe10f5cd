import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ClientOptions, VideoClient } from '../src/client/client.ts'
import { createSilentLogger } from '../src/logger/silent.ts'
import { QuotaMeter } from '../src/quota-meter.ts'
import { SAMPLE_VIDEOS, startStandIn, type StandIn } from './support/stand-in.ts'

export interface ClientTraits {
  /** Calls that it takes to ask for so many videos at once. */
  readonly callsFor: (videos: number) => number
}

const sample = { views: 261_734, likes: 14_237, comments: 451, dislikes: 928 }
const unavailable = { code: 'UPSTREAM_UNAVAILABLE' }
const manyIds = (n: number) => Array.from({ length: n }, (_, i) => `${String(i).padStart(10, '0')}A`)

/** What every client must do, against the stand-in and its faults. */
export function clientConformance(
  name: string,
  create: (options: ClientOptions) => Promise<VideoClient>,
  { callsFor }: ClientTraits,
): void {
  describe(`client ${name}`, () => {
    let standIn: StandIn
    let client: VideoClient
    let meter: QuotaMeter
    const options = (more: Partial<ClientOptions> = {}): ClientOptions => ({
      uri: standIn.url,
      key: 'stand-in',
      timeout: 5_000,
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
      meter = new QuotaMeter(QuotaMeter.memory(), 0)
      client = await create(options())
    })
    afterEach(() => client.close())

    it('gives the numbers of videos, and leaves out those that YouTube does not know', async () => {
      const found = await client.fetch([...SAMPLE_VIDEOS, 'gone_video_'])
      expect(found.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual(SAMPLE_VIDEOS.map((id) => ({ id, ...sample })))
      expect(await client.fetch([])).toEqual([])
    })

    it('asks for any number of videos, and takes a unit of the quota for each call', async () => {
      const ids = manyIds(120)
      const found = await client.fetch(ids)
      expect(found.map(({ id }) => id).toSorted()).toEqual(ids)
      expect(await standIn.control.counts()).toMatchObject({ calls: callsFor(120), ids: 120 })
      expect(meter.used).toBe(callsFor(120))
    })

    it('makes no call that the budget does not allow', async () => {
      const poor = await create(options({ meter: new QuotaMeter(QuotaMeter.memory(), 1) }))
      await poor.fetch([SAMPLE_VIDEOS[0]!])
      await expect(poor.fetch([SAMPLE_VIDEOS[1]!])).rejects.toMatchObject(unavailable)
      expect((await standIn.control.counts()).calls).toBe(1)
      await poor.close()
    })

    it.each([
      ['out of quota', { quotaLeft: 0 }],
      ['failing', { errorRate: 1, errorStatus: 500 }],
      ['cut', { cut: 'before' as const }],
      ['cut halfway', { cut: 'halfway' as const }],
      ['talking nonsense', { malformed: true }],
    ])('says so when YouTube is %s, and works again after', async (_, faults) => {
      await standIn.control.setFaults(faults)
      await expect(client.fetch(SAMPLE_VIDEOS)).rejects.toMatchObject(unavailable)
      await standIn.control.clearFaults()
      expect(await client.fetch(SAMPLE_VIDEOS)).toHaveLength(3)
    })

    it('does not wait for ever', async () => {
      const hasty = await create(options({ timeout: 100 }))
      await standIn.control.setFaults({ hang: true })
      await expect(hasty.fetch(SAMPLE_VIDEOS)).rejects.toMatchObject(unavailable)
      await hasty.close()
    })

    it('says so when nobody is there, and when the key is wrong, without showing the key', async () => {
      const lost = await create(options({ uri: 'http://127.0.0.1:9' }))
      await expect(lost.fetch(SAMPLE_VIDEOS)).rejects.toMatchObject(unavailable)
      await lost.close()
      const wrong = await create(options({ key: 'a-secret' }))
      const error = await wrong.fetch(SAMPLE_VIDEOS).catch((fault: Error) => fault)
      expect(error).toMatchObject({ ...unavailable, message: expect.stringContaining('keyInvalid') })
      expect(JSON.stringify(error)).not.toContain('a-secret')
      await wrong.close()
    })

    it('can be asked by many at once, and closed twice', async () => {
      const found = await Promise.all(Array.from({ length: 50 }, () => client.fetch(SAMPLE_VIDEOS)))
      for (const one of found) expect(one).toHaveLength(3)
      await client.close()
      await client.close()
    })
  })
}
