import { describe, expect, it, vi } from 'vitest'
import { getPartNames, parts } from '../src/parts.ts'
import type { WriteRecorder } from '../src/watch/write-recorder.ts'
import { openLevelStore, openLevelStores } from './support/level-store.ts'
import { isHeld, put, waitTwoTurns } from './support/writes.ts'

describe.each(getPartNames('commit'))('a recorder, commit %s', (commit) => {
  it('gets every revision that was taken, of all threads', async () => {
    const recorded: [first: number, count: number, held: number][] = []
    const recorder: WriteRecorder = {
      recordWrites: (first, writes, { effects }) =>
        void recorded.push([first, writes.length, effects.filter(Boolean).length]),
      recordLost: () => void recorded.push([NaN, 0, 0]),
    }
    const stores = await openLevelStores(3, { recorder, createCommit: parts.commit[commit] })
    const isDone = await Promise.all(
      Array.from({ length: 300 }, (_, i) =>
        stores[i % 3]!.write({ ...put(`k${i % 9}`, 'x'), ...(i % 4 === 0 && { condition: { match: '*' } }) }, isHeld),
      ),
    )
    for (const store of stores) await store.waitUntilSettled!()
    recorded.sort(([a], [b]) => a - b)
    for (const [i, [first]] of recorded.entries())
      if (i > 0) expect(first).toBe(recorded[i - 1]![0] + recorded[i - 1]![1])
    expect(recorded.reduce((sum, [, , blocked]) => sum + blocked, 0)).toBe(isDone.filter(Boolean).length)
    for (const store of stores) await store.close()
  })

  it('is settled once all pending writes are visible', async () => {
    const disk = Promise.withResolvers<void>()
    const store = await openLevelStore({
      createCommit({ level, ...options }) {
        const write = level.writeAhead.bind(level)
        vi.spyOn(level, 'writeAhead').mockImplementation((run) => disk.promise.then(() => write(run)))
        return parts.commit[commit]({ level, ...options })
      },
    })
    const events: string[] = []
    const write = (key: string) => store.write(put(key, 'x'), isHeld).then(() => void events.push(key))
    const settle = (name: string) => store.waitUntilSettled!().then(() => void events.push(name))
    const under = [write('a')]
    await waitTwoTurns()
    // One write is pending, then another waits behind it.
    under.push(settle('of one'), write('b'), settle('of both'))
    await waitTwoTurns()
    expect(events).toEqual([])
    disk.resolve()
    await Promise.all(under)
    const at = (name: string) => events.indexOf(name)
    expect(at('a')).toBeLessThan(at('of one'))
    expect(Math.max(at('a'), at('b'))).toBeLessThan(at('of both'))
    await store.close()
  })

  it('is informed if the result of some writes is unknown', async () => {
    const calls: string[] = []
    const recorder: WriteRecorder = {
      recordWrites: () => void calls.push('wrote'),
      recordLost: () => void calls.push('lost'),
    }
    const store = await openLevelStore({
      recorder,
      createCommit(options) {
        const fails = async () => {
          throw new Error('the disk is full')
        }
        vi.spyOn(options.level, 'writeAhead').mockImplementationOnce(fails)
        return parts.commit[commit](options)
      },
    })
    await expect(store.write(put('k', '1'), isHeld)).rejects.toThrow('the disk is full')
    await store.write(put('k', '2'), isHeld)
    expect(calls).toEqual(['lost', 'wrote'])
    await store.close()
  })
})
