import { describe, expect, it } from 'vitest'
import { createSilentLogger } from '../src/logger/silent.ts'
import { parts } from '../src/parts.ts'
import { ApiKeys } from '../src/youtube/api-keys.ts'
import { QuotaMeter } from '../src/quota/quota-meter.ts'
import { testSideCaller } from './side-caller.conformance.ts'
import { testVideoClient, type ClientTraits } from './video-client.conformance.ts'
import { SAMPLE_VIDEOS, startStandIn } from './support/stand-in.ts'

const oneByOne: ClientTraits = { callsFor: (videos) => videos }
const traits: Record<keyof typeof parts.client, ClientTraits> = {
  fetch: oneByOne,
  'undici-pool': oneByOne,
  'node-http': oneByOne,
  batching: { callsFor: (videos) => Math.ceil(videos / 50) },
}

for (const [name, create] of Object.entries(parts.client)) {
  testVideoClient(name, create, traits[name as keyof typeof traits])
  testSideCaller(name, create)
}

describe('client batching', () => {
  it('joins concurrent requests, and requests no video twice', async () => {
    const standIn = await startStandIn()
    const meter = new QuotaMeter(QuotaMeter.createMemory(), 0)
    const logger = createSilentLogger()
    const options = {
      uri: standIn.url,
      keys: new ApiKeys({ text: 'stand-in' }),
      timeout: 30_000,
      connections: 4,
      meter,
      logger,
    }
    const client = await parts.client.batching(options)
    const found = await Promise.all(
      Array.from({ length: 100 }, (_, i) => client.fetch([SAMPLE_VIDEOS[i % 3]!, 'gone_video_'])),
    )
    expect(found.every((one) => one.found.length === 1)).toBe(true)
    expect(await standIn.control.getCounts()).toMatchObject({ calls: 1, ids: 4 })
    await client.close()
    await standIn.stop()
  })
})
