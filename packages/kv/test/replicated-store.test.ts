import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { toEtag } from '../src/core/stored-value.ts'
import { openTestNode } from './support/replicated-store.ts'
import { isHeld, put, waitTwoTurns } from './support/writes.ts'

describe('a store on the log', () => {
  it('returns the sequence of a write, and that of a read', async () => {
    const { store, close } = await openTestNode()
    onTestFinished(close)
    const write = (key: string) =>
      store.write(put(key, '1'), (revision, sequence) => ({ tag: toEtag(revision!), sequence }))
    const first = await write('a')
    const [second, third] = await Promise.all([write('b'), write('c')])
    expect(first.sequence).toBe(1)
    expect(second).toMatchObject({ sequence: 2 })
    // Writes of one turn share a sequence, but each has its own tag.
    expect(third).toMatchObject({ sequence: 2 })
    expect(third.tag).not.toBe(second.tag)
    expect(store.replica!.sequence).toBe(2)
    const snapshot = store.snapshot()
    const scan = snapshot.scan({ start: Buffer.from('a') })
    await write('d')
    expect(snapshot.sequence).toBe(2)
    expect((await scan.next()).map(([key]) => key)).toEqual(['a', 'b', 'c'])
    await scan.close()
    await snapshot.close()
    await store.replica!.waitForConsistency({ after: 3, linearizable: true })
    await expect(store.replica!.waitForConsistency({ after: 99 })).rejects.toMatchObject({
      code: 'SEQUENCE_WAIT_TIMEOUT',
    })
  })

  it('sends the writes that arrive during a request to main together, and completes them on close', async () => {
    const { store, log, close } = await openTestNode()
    const blocked = Promise.withResolvers<void>()
    const append = log.append
    const appendSpy = vi
      .spyOn(log, 'append')
      .mockImplementation(async (...entry) => (await blocked.promise, append(...entry)))
    const submit = (key: string) => store.write(put(key, 'a'), isHeld)
    const written = [submit('first')]
    await vi.waitFor(() => expect(appendSpy).toHaveBeenCalledTimes(1))
    // On a busy machine, more time may pass than the store waits for further writes.
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    written.push(submit('second'))
    await waitTwoTurns()
    written.push(submit('third'))
    expect(appendSpy).toHaveBeenCalledTimes(1)
    const closed = store.close()
    expect(appendSpy).toHaveBeenCalledTimes(2)
    vi.useRealTimers()
    blocked.resolve()
    expect(await Promise.all(written)).toEqual([true, true, true])
    await closed
    await close()
  })
})
