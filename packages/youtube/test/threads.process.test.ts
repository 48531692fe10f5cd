import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { getAllOnNewConnections, startStandIn, type StandIn } from './support/stand-in.ts'

const CALLS = 48

const countStatus = (replies: { status: number }[], status: number) =>
  replies.filter((reply) => reply.status === status).length

// Other systems cannot share a port between threads.
describe.skipIf(process.platform !== 'linux')('two threads', () => {
  let standIn: StandIn
  beforeAll(async () => {
    standIn = await startStandIn({ threads: 2 })
  })
  afterAll(() => standIn.stop())
  beforeEach(() => standIn.control.clearFaults())

  /** New connections go to either thread. The probability that all of 48 go to one of them is 1 in 2^47. */
  async function getFromBothThreads(parameters?: Record<string, string>) {
    const replies = await getAllOnNewConnections(standIn.buildVideosUrl(parameters), CALLS)
    expect(new Set(replies.map(({ thread }) => thread)).size).toBe(2)
    return replies
  }

  it('share one quota, exactly', async () => {
    await standIn.control.setFaults({ quotaLeft: 20 })
    const replies = await getFromBothThreads()
    expect([countStatus(replies, 200), countStatus(replies, 403)]).toEqual([20, 28])
  })

  it('see a fault as soon as it is set, and its end', async () => {
    for (let round = 0; round < 5; round++) {
      await standIn.control.setFaults({ errorRate: 1, errorStatus: 500 })
      expect(countStatus(await getFromBothThreads(), 500)).toBe(CALLS)
      await standIn.control.clearFaults()
      expect(countStatus(await getFromBothThreads(), 200)).toBe(CALLS)
    }
  })

  it('fail the same share together', async () => {
    await standIn.control.setFaults({ errorRate: 0.25 })
    expect(countStatus(await getFromBothThreads(), 503)).toBe(12)
  })

  it('have one clock', async () => {
    const texts = new Set<string>()
    for (const at of [Date.UTC(2025, 0, 1), Date.UTC(2026, 0, 1)]) {
      await standIn.control.freezeClock(at)
      for (const { text } of await getFromBothThreads({ id: 'abcdefghijk' })) texts.add(text)
    }
    expect(texts.size).toBe(2)
    await standIn.control.releaseClock()
  })

  it('have common counts', async () => {
    await standIn.control.resetCounts()
    await getFromBothThreads({ id: 'abcdefghijk,abcdefghijl' })
    expect(await standIn.control.getCounts()).toMatchObject({ calls: CALLS, ids: 2 * CALLS })
  })
})
