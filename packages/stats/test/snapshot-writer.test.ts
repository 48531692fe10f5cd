import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { SnapshotWriter } from '../src/persist/snapshot-writer.ts'
import { createMapState } from '../src/state/map-state.ts'
import type { SnapshotRow } from '../src/state/stats-state.ts'
import { createNumbers } from './support/video-numbers.ts'

const snapshot = (asOf: number) => ({ videos: [createNumbers('a', asOf)], missing: [], asOf })
const version = (id: string) => ({ id, revision: 1 })

/** A writer whose state fails while `down`, and waits for `gate`. */
async function setUp() {
  const state = createMapState()
  const control = { down: false, hold: Promise.resolve(), writes: [] as string[][] }
  const putSnapshots = state.putSnapshots.bind(state)
  state.putSnapshots = async (rows: readonly SnapshotRow[]) => {
    control.writes.push(rows.map(({ id }) => id))
    await control.hold
    if (control.down) throw new Error('down')
    await putSnapshots(rows)
  }
  for (const id of ['a', 'b', 'c']) await state.put({ ...version(id), videos: ['a'] })
  const onFault = vi.fn<(fault: unknown) => void>()
  const writer = new SnapshotWriter(state, onFault)
  onTestFinished(() => writer.close())
  return { state, control, writer, onFault }
}

describe('the writer of numbers', () => {
  it('writes many collections at once, and only the newest numbers of each', async () => {
    const { state, control, writer } = await setUp()
    const { promise, resolve } = Promise.withResolvers<void>()
    control.hold = promise
    const saved = [writer.save(version('a'), snapshot(1))]
    await waitUntil(() => control.writes.length === 1)
    for (const [at, id] of ['a', 'b', 'a', 'c', 'a'].entries()) saved.push(writer.save(version(id), snapshot(at + 2)))
    saved.push(writer.save(version('a'), snapshot(3)))
    resolve()
    await Promise.all(saved)
    expect(control.writes).toEqual([['a'], ['a', 'b', 'c']])
    expect(await state.getSnapshot('a')).toMatchObject(snapshot(6))
    expect(await state.getHistory('a', 0, 9, 9)).toMatchObject([{ at: 1 }, { at: 6, before: [1, 1] }])
  })

  it('does not block callers while the state fails, reports it once, and writes the newest numbers afterwards', async () => {
    const { state, control, writer, onFault } = await setUp()
    control.down = true
    await writer.save(version('a'), snapshot(1))
    const { length } = control.writes
    for (const id of ['a', 'b', 'c']) await writer.save(version(id), snapshot(2))
    expect(control.writes).toHaveLength(length)
    await waitUntil(() => control.writes.length > length)
    control.down = false
    await waitUntil(async () => (await state.getSnapshot('c'))?.asOf === 2)
    expect(await state.getSnapshot('a')).toMatchObject(snapshot(2))
    expect(onFault).toHaveBeenCalledTimes(1)
  })

  it('finishes the writes of a collection before its change, and writes none of its numbers meanwhile', async () => {
    const { state, control, writer } = await setUp()
    const { promise, resolve } = Promise.withResolvers<void>()
    control.hold = promise
    const saved = writer.save(version('a'), snapshot(1))
    await waitUntil(() => control.writes.length === 1)
    const waiting = writer.save(version('a'), snapshot(2))
    const steps: string[] = []
    const changed = writer.runWithoutWrites('a', async () => {
      steps.push('changed')
      await writer.save(version('a'), snapshot(3))
      await state.delete('a')
    })
    await new Promise(setImmediate)
    expect(steps).toEqual([])
    resolve()
    await Promise.all([saved, waiting, changed])
    expect(steps).toEqual(['changed'])
    expect(control.writes).toEqual([['a']])
    expect(await state.getSnapshot('a')).toBeUndefined()
  })

  it('stores numbers also after the clock was set back, but no older ones', async () => {
    const { state, writer } = await setUp()
    const later = Date.now() + 3_600_000
    for (const at of [5, 4]) await writer.save(version('a'), snapshot(at))
    expect((await state.getSnapshot('a'))!.asOf).toBe(5)
    await writer.save(version('b'), snapshot(later))
    await writer.save(version('b'), snapshot(Date.now()))
    expect((await state.getSnapshot('b'))!.asOf).toBeLessThan(later)
  })
})
