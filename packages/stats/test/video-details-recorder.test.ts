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
  /** Records the result of a call; ids that end in `_` are missing. */
  async function take(ids: string[], asOf: number, views = 1, withDetails = false): Promise<VideoRow[]> {
    const there = ids.filter((id) => !id.endsWith('_'))
    const found = there.map((id) => createNumbers(id, views))
    const details = there.map((id) => ({ id, asOf }))
    recorder.recordNumbers(found, asOf)
    if (withDetails) recorder.recordDetails(ids, details)
    await recorder.close()
    return saved.splice(0)
  }
  return { notes: recorder, control, onFault, take }
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

  it('requests details once a day, those of unknown videos no more often', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const { notes: recorder, take } = setUp()
    expect(recorder.needsDetails(['a', 'b_'])).toBe(true)
    expect(await take(['a', 'b_'], START, 1, true)).toMatchObject([
      { id: 'a', point: { at: START } },
      { id: 'a', details: { asOf: START } },
    ])
    expect(recorder.needsDetails(['a', 'b_'])).toBe(false)
    expect(recorder.needsDetails(['a', 'c'])).toBe(true)
    vi.advanceTimersByTime(DAY_MS - 1)
    expect(recorder.needsDetails(['a', 'b_'])).toBe(false)
    vi.advanceTimersByTime(2)
    expect(recorder.needsDetails(['a'])).toBe(true)
    expect(recorder.needsDetails(['b_'])).toBe(true)
  })

  it('writes once while another write is in flight, and records again after a failure', async () => {
    const { notes: recorder, control, onFault, take } = setUp()
    const { promise, resolve } = Promise.withResolvers<void>()
    control.hold = promise
    const first = take(['a'], START, 1, true)
    for (let hour = 1; hour < 50; hour++) {
      recorder.recordNumbers([createNumbers('a', hour), createNumbers('b', hour)], START + hour * HOUR_MS)
    }
    resolve()
    expect((await first).map(({ id, point }) => [id, point!.at])).toEqual([
      ['a', START],
      ['a', START + 49 * HOUR_MS],
      ['b', START + 49 * HOUR_MS],
    ])
    expect(control.writes).toBe(2)

    control.down = true
    expect(await take(['c', 'd'], START, 1, true)).toEqual([])
    expect(await take(['e'], START, 1, true)).toEqual([])
    expect(onFault).toHaveBeenCalledTimes(1)
    control.down = false
    expect(recorder.needsDetails(['c'])).toBe(true)
    expect(await take(['c'], START + 1, 1, true)).toMatchObject([
      { id: 'c', point: { at: START + 1 } },
      { id: 'c', details: {} },
    ])
  })
})
