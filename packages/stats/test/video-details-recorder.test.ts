import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { DAY_MS } from '../src/core/quota-budget.ts'
import type { VideoRow } from '../src/state/stats-state.ts'
import { VideoDetailsRecorder } from '../src/persist/video-details-recorder.ts'
import { createNumbers } from './support/video-numbers.ts'

const HOUR_MS = 3_600_000
const START = 1_000 * HOUR_MS

function setUp() {
  const saved: VideoRow[] = []
  const control = { down: false, hold: undefined as Promise<void> | undefined, writes: 0 }
  const onFault = vi.fn<(fault: unknown) => void>()
  const recorder = new VideoDetailsRecorder({
    async save(rows) {
      control.writes++
      await control.hold
      if (control.down) throw new Error('down')
      saved.push(...rows)
    },
    onFault,
  })
  onTestFinished(() => recorder.close())
  /** Records the result of a call; ids that end in `_` are missing. */
  function record(ids: string[], asOf: number, views = 1, withDetails = false): void {
    const there = ids.filter((id) => !id.endsWith('_'))
    const found = there.map((id) => createNumbers(id, views))
    recorder.recordNumbers(found, asOf)
    if (withDetails)
      recorder.recordDetails(
        ids,
        there.map((id) => ({ id, asOf })),
      )
  }
  /** The same, and returns the written rows. */
  async function take(...result: Parameters<typeof record>): Promise<VideoRow[]> {
    record(...result)
    await new Promise(setImmediate)
    return saved.splice(0)
  }
  return { recorder, control, onFault, saved, record, take }
}

describe('the recorder of video details', () => {
  it('records a point per hour, if the numbers have changed', async () => {
    const { take } = setUp()
    const point = (at: number, views: number) => ({ at, impressions: views, engagements: 16, score: 26, videos: 1 })
    expect(await take(['a'], START + 5, 1)).toEqual([{ id: 'a', point: point(START + 5, 1) }])
    expect(await take(['a'], START + 9, 2)).toEqual([])
    expect(await take(['a'], START + HOUR_MS, 2)).toEqual([{ id: 'a', point: point(START + HOUR_MS, 2) }])
    expect(await take(['a', 'b'], START + 3 * HOUR_MS, 2)).toEqual([{ id: 'b', point: point(START + 3 * HOUR_MS, 2) }])
    expect(await take(['a'], START + 3 * HOUR_MS + 1, 3)).toEqual([
      { id: 'a', point: point(START + 3 * HOUR_MS + 1, 3) },
    ])
  })

  it('requests details of live broadcasts every 10 minutes', () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const { recorder } = setUp()
    const record = (live: 'none' | 'live') => recorder.recordDetails(['a', 'b'], [{ id: 'a', live, asOf: 1 }])
    record('live')
    vi.advanceTimersByTime(599_000)
    expect(recorder.needsDetails(['a', 'b'])).toBe(false)
    vi.advanceTimersByTime(2_000)
    expect([recorder.needsDetails(['b']), recorder.needsDetails(['b', 'a'])]).toEqual([false, true])
    record('none')
    vi.advanceTimersByTime(601_000)
    expect(recorder.needsDetails(['a', 'b'])).toBe(false)
  })

  it('requests details once a day, those of unknown videos no more often', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const { recorder, take } = setUp()
    expect(recorder.needsDetails(['a', 'b_'])).toBe(true)
    expect(await take(['a', 'b_'], START, 1, true)).toMatchObject([
      { id: 'a', point: { at: START }, details: { asOf: START } },
    ])
    expect(recorder.needsDetails(['a', 'b_'])).toBe(false)
    expect(recorder.needsDetails(['a', 'c'])).toBe(true)
    vi.advanceTimersByTime(DAY_MS - 1)
    expect(recorder.needsDetails(['a', 'b_'])).toBe(false)
    vi.advanceTimersByTime(2)
    expect(recorder.needsDetails(['a'])).toBe(true)
    expect(recorder.needsDetails(['b_'])).toBe(true)
  })

  it('writes once while another write is in flight', async () => {
    const { recorder, control, saved, record } = setUp()
    const { promise, resolve } = Promise.withResolvers<void>()
    control.hold = promise
    record(['a'], START, 1, true)
    await waitUntil(() => control.writes === 1)
    for (let hour = 1; hour < 50; hour++) {
      recorder.recordNumbers([createNumbers('a', hour), createNumbers('b', hour)], START + hour * HOUR_MS)
    }
    resolve()
    await waitUntil(() => saved.length === 3)
    expect(saved.map(({ id, point }) => [id, point!.at])).toEqual([
      ['a', START],
      ['b', START + 49 * HOUR_MS],
      ['a', START + 49 * HOUR_MS],
    ])
    expect(control.writes).toBe(2)
  })

  it('writes the newest data after a failure, and reports the failure once', async () => {
    const { recorder, control, onFault, saved, record, take } = setUp()
    control.down = true
    expect(await take(['c', 'd'], START, 1, true)).toEqual([])
    expect(await take(['e'], START, 1, true)).toEqual([])
    record(['c'], START + HOUR_MS, 2)
    await waitUntil(() => control.writes > 1)
    expect(onFault).toHaveBeenCalledTimes(1)
    control.down = false
    await waitUntil(() => saved.length === 3)
    expect(saved.find(({ id }) => id === 'c')).toMatchObject({ point: { at: START + HOUR_MS }, details: {} })
    expect(recorder.needsDetails(['c'])).toBe(false)
  })
})
