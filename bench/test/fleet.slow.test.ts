import { startSlownessMeter } from '@influencer-stats/runtime/testing/process-clock'
import { describe, expect, it } from 'vitest'
import { getLocalAddress, assertOpenFiles, getOpenFilesLimit } from '../src/load/fleet/open-files.ts'
import { runConnecting } from '../src/load/fleet.ts'
import { DEFAULT_DIALECT } from '../src/load/fleet/fleet-plan.ts'
import { runOn, SMALL_FLEET, startBroadcaster } from './support/broadcast-server.ts'

/** Result of 20 streams and 100 values on a correct server. The number of late values depends on the machine. */
const right = {
  refused: 0,
  cut: 0,
  unclosed: 0,
  values: 100,
  received: 100,
  lost: 0,
  doubled: 0,
  outOfOrder: 0,
  wrong: 0,
}

describe.concurrent('streams that are opened again and again', () => {
  it.each([
    ['plain', 0],
    ['full', 15],
  ])('are all counted: %s', async (behavior, refused) => {
    await using server = await startBroadcaster(behavior)
    // At least one round, regardless of the duration.
    const result = await runConnecting({ ...SMALL_FLEET, url: server.url, duration: 0.01 })
    expect(result.opened + result.refused).toBeGreaterThanOrEqual(20)
    expect(result.refused).toBe(refused === 0 ? 0 : result.opened + result.refused - (20 - refused))
  })

  it('go on until the time is up', async () => {
    await using server = await startBroadcaster('plain')
    const start = performance.now()
    const { opened, refused } = await runConnecting({ ...SMALL_FLEET, url: server.url, duration: 1 })
    expect(performance.now() - start).toBeGreaterThan(1_000)
    expect(refused).toBe(0)
    expect(opened).toBeGreaterThanOrEqual(SMALL_FLEET.streams)
  })
})

// Repeats a measurement that a pause of the machine has spoilt.
describe.concurrent('a fleet', { retry: 3 }, () => {
  it('accounts for every value, chunked or not, one by one or joined', async () => {
    const [plain, joining] = await Promise.all([runOn('plain'), runOn('joining')])
    expect(plain).toMatchObject(right)
    expect(joining).toMatchObject(right)
    for (const { idle, memory, sending, deliveryP50, deliveryP99, query, lateness } of [plain, joining]) {
      expect(Math.min(idle, memory)).toBeGreaterThan(10)
      expect(sending).toBeGreaterThan(0)
      expect(sending).toBeLessThan(2)
      expect(deliveryP99).toBeGreaterThanOrEqual(deliveryP50)
      expect(query).toBeGreaterThan(0)
      expect(lateness).toBeGreaterThan(0)
    }
  })

  it('saturates a server', async () => {
    const result = await runOn('plain', { sending: { seconds: 0.5, warmUp: 0.5 }, publishers: 8 })
    expect(result).toMatchObject({ ...right, values: result.values, received: result.values })
    expect(result.deliveries).toBeGreaterThan(0)
  })

  it('opens streams in their pace', async () => {
    const { connects } = await runOn('plain', { spacing: 50, sending: { values: 1, interval: 1 } })
    // 20 streams, the last one due after 950 ms; a busy machine may be late.
    expect(connects).toBeGreaterThan(10)
    expect(connects).toBeLessThan(20 / 0.95)
  })

  it('shows half a second where values are delivered half a second late', async () => {
    const slow = startSlownessMeter()
    const result = await runOn('delaying')
    expect(result).toMatchObject(right)
    expect(result.deliveryP50 / 1000).toBeGreaterThan(490)
    expect(result.deliveryP50 / 1000).toBeLessThan(1_500 * slow())
    // A put is answered immediately.
    expect(result.deliveryP50 / 1000 - result.query).toBeGreaterThan(250)
  })

  it.each([
    ['dropping', { lost: 200, received: 90 }],
    // It accepts with 201, and loses values as well.
    ['creating', { lost: 200, received: 90 }],
    ['doubling', { doubled: 200 }],
    ['garbling', { wrong: 200, lost: 200, received: 90 }],
    ['swapping', { outOfOrder: 200 }],
    ['lying', { wrong: 10 }],
    ['lasting', { unclosed: 20 }],
  ])('tells of a server that is %s', async (behavior, expected) => {
    // One publisher, so that the order is certain.
    expect(await runOn(behavior, { publishers: 1 })).toMatchObject({ ...right, ...expected })
  })

  it('counts values that are late as rejected, not as lost', async () => {
    // A publisher that waits for more than a second delays later ones.
    const { rejected, ...result } = await runOn('late', { publishers: 20 })
    expect(result).toMatchObject(right)
    expect(rejected).toBeGreaterThanOrEqual(10)
  })

  it('counts values that were refused as rejected, not as lost', async () => {
    const { rejected, ...result } = await runOn('refusing')
    expect(result).toMatchObject({ ...right, received: 90 })
    expect(rejected).toBeGreaterThanOrEqual(10)
  })

  it('counts streams that are refused or cut', async () => {
    expect(await runOn('full')).toMatchObject({ ...right, refused: 15 })
    expect(await runOn('cutting')).toMatchObject({ cut: 3, unclosed: 0, refused: 0 })
  })

  it('waits for the greeting of a server that greets, and takes it and its farewell for no values', async () => {
    expect(await runOn('greeting', { dialect: { ...DEFAULT_DIALECT, greets: true } })).toMatchObject(right)
    // Greetings are wrong for a dialect without them; values may come before their streams open.
    const { wrong } = await runOn('greeting')
    expect(wrong).toBe(40)
  })

  it('sees a stream that has another order than the rest', async () => {
    const { outOfOrder, lost, doubled } = await runOn('straying', { sending: { values: 500, interval: 0.1 } })
    expect({ lost, doubled, strayed: outOfOrder > 0 }).toEqual({ lost: 0, doubled: 0, strayed: true })
  })

  it('does not start without the open files that it needs', async () => {
    expect(() => assertOpenFiles(1008, 1072)).not.toThrow()
    expect(() => assertOpenFiles(1008, 1071)).toThrow('ulimit -n 1072')
    const limit = getOpenFilesLimit()
    expect(limit).toBeGreaterThan(100)
    if (limit < 10_000_000) await expect(runOn('plain', { streams: limit })).rejects.toThrow('ulimit -n')
  })
})

describe('addresses', () => {
  it('are as many as ports need', () => {
    expect(getLocalAddress(15_999, 16_000, '127.0.0.1')).toBeUndefined()
    const used = Array.from({ length: 40_000 }, (_, i) => getLocalAddress(i, 40_000, '127.0.0.1'))
    expect(new Set(used)).toEqual(new Set(['127.0.0.1', '127.0.0.2', '127.0.0.3']))
    expect(used.filter((address) => address === '127.0.0.2').length).toBeLessThanOrEqual(16_000)
    expect(getLocalAddress(0, 40_000, '10.0.0.1')).toBeUndefined()
  })
})
