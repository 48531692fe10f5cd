import { describe, expect, it } from 'vitest'
import { EXPIRE_KIND, type LoggedWrite } from '../src/core/encode-writes.ts'
import { openKvStateMachine } from '../src/cluster/kv-state-machine.ts'
import { STATE_KEY } from '../src/revisions.ts'
import { ChangeFeed } from '../src/watch/change-feed.ts'
import { at, createEntry, openTestStateMachine, put, readContents } from './support/state-machine.ts'

describe('a snapshot of the state machine', () => {
  it('is restored from a snapshot, which replaces all data', async () => {
    const one = await openTestStateMachine()
    const other = await openTestStateMachine()
    for (let i = 1; i <= 20; i++) await one.machine.apply([createEntry(i, put(`k${i}`, 'x'.repeat(i * 100)))], at(i))
    await other.machine.apply([createEntry(1, put('stale', '1'))], at(1))
    // Pieces of 777 bytes at most.
    async function* cut(pieces: AsyncIterable<Buffer>) {
      for await (const piece of pieces)
        for (let from = 0; from < piece.length; from += 777) yield piece.subarray(from, from + 777)
    }
    await other.machine.restore(cut(one.machine.snapshot()))
    expect(await readContents(other.level)).toEqual(await readContents(one.level))
    expect(other.machine.getPosition()).toEqual(at(20))
    const next = [createEntry(21, put('k1', 'again', { match: '*' }))]
    expect(await other.machine.apply(next, at(21))).toEqual(await one.machine.apply(next, at(21)))
  })

  it('restores expiries and idempotency keys from a snapshot, and reads one of the older format', async () => {
    const one = await openTestStateMachine()
    const other = await openTestStateMachine()
    const timed: LoggedWrite = {
      ops: [{ type: 'put', key: Buffer.from('timed'), value: Buffer.from('1'), ttl: 10 }],
      isSpecial: true,
    }
    const named = { ...put('named', '1'), idempotencyKey: 'n', isSpecial: true }
    await one.machine.apply([createEntry(1, timed, named, put('k', '1'))], at(1))
    await other.machine.restore(one.machine.snapshot())
    expect(other.machine.nextDue).toBe(10)
    const late = [
      { ...createEntry(2, named), at: 10 },
      { seq: 3, at: 10, kind: EXPIRE_KIND, body: Buffer.alloc(0) },
    ]
    expect(await other.machine.apply(late, at(3))).toEqual(await one.machine.apply(late, at(3)))
    const rest = await readContents(one.level)
    expect(await readContents(other.level)).toEqual(rest)
    expect(rest.map(([key]) => Buffer.from(key, 'hex').toString()).filter((key) => /^\w+$/.test(key))).toEqual([
      'k',
      'named',
    ])
    async function* toFirstFormat() {
      for await (const piece of one.machine.snapshot())
        yield Buffer.from(piece.toString('latin1').replace('kv snapshot 2', 'kv snapshot 1'), 'latin1')
    }
    await other.machine.restore(toFirstFormat())
    expect(await readContents(other.level)).toEqual(rest)
  })

  it('is empty after a partial snapshot', async () => {
    const one = await openTestStateMachine()
    const other = await openTestStateMachine()
    for (let i = 1; i <= 20; i++) await one.machine.apply([createEntry(i, put(`k${i}`, 'x'))], at(i))
    await other.machine.apply([createEntry(1, put('stale', '1'))], at(1))
    async function* truncate(pieces: AsyncIterable<Buffer>) {
      let isHead = true
      for await (const piece of pieces) {
        yield isHead ? piece : piece.subarray(0, Math.ceil(piece.length / 2))
        isHead = false
      }
    }
    await expect(other.machine.restore(truncate(one.machine.snapshot()))).rejects.toThrow('is truncated')
    expect(other.machine.getPosition()).toBeUndefined()
    expect((await openKvStateMachine(other.level, new ChangeFeed(1e6))).getPosition()).toBeUndefined()
    async function* yieldForeign() {
      yield Buffer.from('what is this, and why is it here at all?')
    }
    await expect(other.machine.restore(yieldForeign())).rejects.toThrow('does not know the format of the snapshot')
  })

  it('starts empty after a possible power cut, and continues after a clean exit', async () => {
    const { level, machine: view } = await openTestStateMachine()
    await view.apply([createEntry(1, put('k', '1'))], at(1))
    const own = JSON.parse((await level.db.get(STATE_KEY))!.toString())
    const write = (boot: string | undefined) => level.db.put(STATE_KEY, Buffer.from(JSON.stringify({ ...own, boot })))
    expect((await openKvStateMachine(level, new ChangeFeed(1e6))).getPosition()).toEqual(at(1))
    await view.settle()
    expect(JSON.parse((await level.db.get(STATE_KEY))!.toString()).boot).toBe('clean')
    await write('another run of the machine')
    expect((await openKvStateMachine(level, new ChangeFeed(1e6))).getPosition()).toBeUndefined()
    expect(await readContents(level)).toEqual([])
  })
})
