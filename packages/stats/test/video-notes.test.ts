import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { DAY } from '../src/core/pace.ts'
import type { VideoRow } from '../src/state/state.ts'
import { Notebook } from '../src/video-notes.ts'
import { numbersOf } from './support/numbers.ts'

const HOUR = 3_600_000
const START = 1_000 * HOUR

function setUp() {
  const saved: VideoRow[] = []
  const control = { down: false, gate: undefined as Promise<void> | undefined, writes: 0 }
  const onFault = vi.fn<(fault: unknown) => void>()
  const notes = new Notebook({
    async save(rows) {
      control.writes++
      await control.gate
      if (control.down) throw new Error('down')
      saved.push(...rows)
    },
    onFault,
  })
  /** What a call gave; none of the ids that end in `_`. */
  async function take(ids: string[], asOf: number, views = 1, withDetails = false): Promise<VideoRow[]> {
    const there = ids.filter((id) => !id.endsWith('_'))
    const found = there.map((id) => numbersOf(id, views))
    const details = there.map((id) => ({ id, asOf }))
    notes.takeNumbers(found, asOf)
    if (withDetails) notes.takeDetails(ids, details)
    await notes.close()
    return saved.splice(0)
  }
  return { notes, control, onFault, take }
}

describe('the notes of videos', () => {
  it('have a point an hour, if the numbers have changed', async () => {
    const { take } = setUp()
    const point = (at: number, views: number) => ({ at, impressions: views, engagements: 16, score: 26, videos: 1 })
    expect(await take(['a'], START + 5, 1)).toEqual([{ id: 'a', point: point(START + 5, 1) }])
    expect(await take(['a'], START + 9, 2)).toEqual([])
    expect(await take(['a'], START + HOUR, 2)).toEqual([{ id: 'a', point: point(START + HOUR, 2) }])
    expect(await take(['a', 'b'], START + 3 * HOUR, 2)).toEqual([{ id: 'b', point: point(START + 3 * HOUR, 2) }])
    expect(await take(['a'], START + 3 * HOUR + 1, 3)).toEqual([{ id: 'a', point: point(START + 3 * HOUR + 1, 3) }])
  })

  it('want details once a day, those of what YouTube does not return no more often', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const { notes, take } = setUp()
    expect(notes.wantsDetails(['a', 'b_'])).toBe(true)
    expect(await take(['a', 'b_'], START, 1, true)).toMatchObject([
      { id: 'a', point: { at: START } },
      { id: 'a', details: { asOf: START } },
    ])
    expect(notes.wantsDetails(['a', 'b_'])).toBe(false)
    expect(notes.wantsDetails(['a', 'c'])).toBe(true)
    vi.advanceTimersByTime(DAY - 1)
    expect(notes.wantsDetails(['a', 'b_'])).toBe(false)
    vi.advanceTimersByTime(2)
    expect(notes.wantsDetails(['a'])).toBe(true)
    expect(notes.wantsDetails(['b_'])).toBe(true)
  })

  it('are one write while another is under way, and noted anew where that failed', async () => {
    const { notes, control, onFault, take } = setUp()
    const { promise, resolve } = Promise.withResolvers<void>()
    control.gate = promise
    const first = take(['a'], START, 1, true)
    for (let hour = 1; hour < 50; hour++) {
      notes.takeNumbers([numbersOf('a', hour), numbersOf('b', hour)], START + hour * HOUR)
    }
    resolve()
    expect((await first).map(({ id, point }) => [id, point!.at])).toEqual([
      ['a', START],
      ['a', START + 49 * HOUR],
      ['b', START + 49 * HOUR],
    ])
    expect(control.writes).toBe(2)

    control.down = true
    expect(await take(['c', 'd'], START, 1, true)).toEqual([])
    expect(await take(['e'], START, 1, true)).toEqual([])
    expect(onFault).toHaveBeenCalledTimes(1)
    control.down = false
    expect(notes.wantsDetails(['c'])).toBe(true)
    expect(await take(['c'], START + 1, 1, true)).toMatchObject([
      { id: 'c', point: { at: START + 1 } },
      { id: 'c', details: {} },
    ])
  })
})
