import { readBootId } from '@influencer-stats/runtime/boot-id'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import fc from 'fast-check'
import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { Applier } from '../src/jetstream/applier.ts'
import { openLocalLog } from '../src/local/local-log.ts'
import type { LogMessage } from '../src/order/frame-assembler.ts'
import { encodeFrame } from '../src/order/frame.ts'
import { createStartPosition } from '../src/order/sequencer.ts'
import { closeLevel } from '../src/state-machine/level-state-machine.ts'
import { at, createEntry, EXTEND_KIND, openLevelTexts, POSITION_KEY, toExtension } from './support/level-texts.ts'

const UNKNOWN_KIND = 9

describe.each([
  { mode: 'a node of a cluster', isReplica: true },
  { mode: 'a standalone service', isReplica: false },
])('the state machine of $mode', ({ isReplica }) => {
  const open = (folder?: string) => openLevelTexts(isReplica, folder)

  it('has no position at first, and then that of its last batch, also after a restart', async () => {
    const one = await open()
    expect([one.machine.getPosition(), one.loaded]).toEqual([undefined, [undefined]])
    expect(await one.machine.apply([createEntry(1, 'a', 'x'), createEntry(2, 'a', 'y')], at(2))).toEqual(['x', 'xy'])
    expect(await one.machine.apply([], at(5))).toEqual([])
    expect(one.machine.getPosition()).toEqual(at(5))
    await one.level.close()
    const again = await open(one.folder)
    expect(again.machine.getPosition()).toEqual(at(5))
    expect(again.loaded).toEqual([{ position: at(5), boot: readBootId() }])
    expect(await again.machine.apply([createEntry(6, 'a', 'z')], at(6))).toEqual(['xyz'])
  })

  it('has the same data after any batches and restarts, in the order of the entries', async () => {
    const extensions = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.string({ maxLength: 3 })), {
      minLength: 1,
      maxLength: 12,
    })
    const cuts = fc.infiniteStream(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.boolean()))
    await fc.assert(
      fc.asyncProperty(extensions, cuts, async (changes, sizes) => {
        const expected: Record<string, string> = {}
        const outcomes = changes.map(([name, text]) => (expected[name] = (expected[name] ?? '') + text))
        let texts = await open()
        const received: unknown[] = []
        while (received.length < changes.length) {
          const [size, isRestarted] = sizes.next().value!
          const from = received.length
          const entries = changes
            .slice(from, from + size)
            .map(([name, text], i) => createEntry(from + i + 1, name, text))
          received.push(...(await texts.machine.apply(entries, at(from + entries.length))))
          if (!isRestarted) continue
          await texts.level.close()
          texts = await open(texts.folder)
          expect(texts.machine.getPosition()).toEqual(at(received.length))
        }
        expect(received).toEqual(outcomes)
        expect(await texts.read()).toEqual(expected)
        await texts.level.close()
      }),
      { numRuns: 8 },
    )
  })

  it('has all or nothing of a batch whose write was cut off', async () => {
    const { machine, folder } = await open()
    const findLog = () =>
      join(
        'level',
        readdirSync(join(folder, 'level')).find((name) => name.endsWith('.log'))!,
      )
    const copy = (from: string) => {
      const target = createTemporaryFolder()
      cpSync(from, target, { recursive: true })
      return target
    }
    await machine.apply([createEntry(1, 'a', 'x'), createEntry(2, 'b', 'x')], at(2))
    const before = copy(folder)
    const { size } = statSync(join(folder, findLog()))
    await machine.apply([createEntry(3, 'a', 'y'), createEntry(4, 'b', 'y')], at(4))
    const bytes = readFileSync(join(folder, findLog()))
    expect(bytes.length).toBeGreaterThan(size)
    for (let end = size; end < bytes.length; end += 13) {
      const torn = copy(before)
      writeFileSync(join(torn, findLog()), bytes.subarray(0, end))
      const cut = await open(torn)
      expect([cut.machine.getPosition(), await cut.read()]).toEqual([at(2), { a: 'x', b: 'x' }])
      expect(await cut.machine.apply([createEntry(3, 'a', 'y')], at(3))).toEqual(['xy'])
    }
    const whole = await open(copy(folder))
    expect([whole.machine.getPosition(), await whole.read()]).toEqual([at(4), { a: 'xy', b: 'xy' }])
  })

  it('evaluates a batch once if its write fails and the log passes it again', async () => {
    const { machine, level, countEvaluations } = await open()
    const entries = [createEntry(1, 'a', 'x')]
    // The write succeeds, but reports a failure.
    vi.spyOn(level, 'write').mockImplementationOnce(async (run) => {
      await run(level.db)
      throw new Error('the disk is full')
    })
    await expect(machine.apply(entries, at(1))).rejects.toThrow('the disk is full')
    expect(machine.getPosition()).toBeUndefined()
    expect(await machine.apply(entries, at(1))).toEqual(['x'])
    expect(countEvaluations()).toBe(1)
    expect(await machine.apply([createEntry(2, 'a', 'y')], at(2))).toEqual(['xy'])
  })

  it('evaluates other entries for themselves after a failed write, even at the same sequence', async () => {
    const { machine, level, read } = await open()
    vi.spyOn(level, 'write').mockRejectedValueOnce(new Error('the disk is full'))
    await expect(machine.apply([createEntry(1, 'a', 'lost')], at(1))).rejects.toThrow('the disk is full')
    expect(await machine.apply([createEntry(1, 'b', 'x')], at(1))).toEqual(['x'])
    expect(await read()).toEqual({ b: 'x' })
  })

  it('applies nothing of a batch with an unknown or a damaged entry, and continues after it', async () => {
    const { machine, read, readPosition } = await open()
    await machine.apply([createEntry(1, 'a', 'x')], at(1))
    const valid = createEntry(2, 'a', 'y')
    const refuse = (more: object) => machine.apply([valid, { ...valid, seq: 3, ...more }], at(3))
    await expect(refuse({ kind: UNKNOWN_KIND })).rejects.toMatchObject({ code: 'LOG_FORMAT_UNKNOWN', seq: 3 })
    await expect(refuse({ body: Buffer.from('{') })).rejects.toMatchObject({ code: 'LOG_DAMAGED', seq: 3 })
    expect([machine.getPosition(), await readPosition()]).toEqual([at(1), expect.objectContaining({ position: at(1) })])
    expect(await read()).toEqual({ a: 'x' })
    expect(await machine.apply([valid], at(2))).toEqual(['xy'])
  })

  it('replaces all its data by a snapshot, which is on the disk when it is restored', async () => {
    const [one, other] = [await open(), await open()]
    await one.machine.apply([createEntry(1, 'a', 'x')], at(1))
    await other.machine.apply([createEntry(1, 'stale', 'x')], at(1))
    const flush = vi.spyOn(other.level, 'flush')
    await other.machine.restore(one.machine.snapshot())
    expect(flush).toHaveBeenCalledOnce()
    expect(other.machine.getPosition()).toEqual(at(1))
    expect(await other.read()).toEqual({ a: 'x' })
    expect(await other.readPosition()).toEqual({ position: at(1), boot: 'clean' })
    expect(other.loaded.slice(1)).toEqual([{ position: at(1), boot: 'clean' }])
    expect(await other.machine.apply([createEntry(2, 'a', 'y')], at(2))).toEqual(['xy'])
  })

  it('has no position after an incomplete or foreign snapshot', async () => {
    const [one, other] = [await open(), await open()]
    await one.machine.apply([createEntry(1, 'a', 'x')], at(1))
    for (const cutAt of [1, 40]) {
      await other.machine.apply([createEntry(1, 'stale', 'x')], at(1))
      const bytes = Buffer.concat(await Array.fromAsync(one.machine.snapshot())).subarray(0, -cutAt)
      await expect(other.machine.restore(toChunks(bytes))).rejects.toThrow('the snapshot is truncated')
      expect([other.machine.getPosition(), await other.readPosition()]).toEqual([undefined, undefined])
    }
    await expect(other.machine.restore(toChunks(Buffer.from('influencer-stats texts 2\n')))).rejects.toThrow(
      'does not know the format of the snapshot',
    )
  })

  it('lets the log delay no entry unless the service allows it', async () => {
    expect((await open()).machine.canLag!()).toBe(false)
  })
})

describe('after a power cut', () => {
  /** Opens a folder whose last position was stored at another boot. */
  async function reopenAtBoot(isReplica: boolean, boot: string | undefined) {
    const { machine, level, folder } = await openLevelTexts(isReplica)
    await machine.apply([createEntry(1, 'a', 'x')], at(1))
    await level.db.put(POSITION_KEY, JSON.stringify({ position: at(1), boot }))
    await level.close()
    return openLevelTexts(isReplica, folder)
  }

  it.each([['another boot'], [undefined]])('a node begins with an empty database (boot id: %s)', async (boot) => {
    const again = await reopenAtBoot(true, boot)
    expect([again.machine.getPosition(), await again.readPosition(), await again.read()]).toEqual([
      undefined,
      undefined,
      {},
    ])
    expect(again.loaded).toEqual([undefined])
    expect(await again.machine.apply([createEntry(1, 'a', 'x')], at(1))).toEqual(['x'])
  })

  it('a node continues if it settled before, until its next write', async () => {
    const { machine, level, folder, readPosition } = await openLevelTexts(true)
    const flush = vi.spyOn(level, 'flush')
    await machine.settle()
    expect([await readPosition(), flush.mock.calls.length]).toEqual([undefined, 0])
    await machine.apply([createEntry(1, 'a', 'x')], at(1))
    await machine.settle()
    await machine.settle()
    expect([await readPosition(), flush.mock.calls.length]).toEqual([{ position: at(1), boot: 'clean' }, 1])
    await machine.apply([], at(2))
    expect(await readPosition()).toEqual({ position: at(2), boot: readBootId() })
    await closeLevel(machine, level, { info() {}, warn() {}, error() {} }, 'test')
    expect((await openLevelTexts(true, folder)).loaded).toEqual([{ position: at(2), boot: 'clean' }])
  })

  it('a node closes its database even if the flush fails, and logs that', async () => {
    const { machine, level } = await openLevelTexts(true)
    await machine.apply([createEntry(1, 'a', 'x')], at(1))
    vi.spyOn(level, 'flush').mockRejectedValueOnce(new Error('the disk is full'))
    const warnings: unknown[][] = []
    const warn = (...values: unknown[]) => void warnings.push(values)
    await closeLevel(machine, level, { info() {}, warn, error() {} }, 'test')
    expect(warnings).toEqual([[expect.anything(), expect.stringContaining('was not flushed')]])
    expect(level.db.status).toBe('closed')
  })

  it('a standalone service retains its data, and does not settle: it has no copy', async () => {
    const again = await reopenAtBoot(false, 'another boot')
    expect([again.machine.getPosition(), await again.read()]).toEqual([at(1), { a: 'x' }])
    await again.machine.settle()
    expect(await again.readPosition()).toEqual({ position: at(1), boot: 'another boot' })
  })
})

describe('with the log', () => {
  it('of a standalone service: order, one sequence per turn, values that are not encoded', async () => {
    const { machine, level, folder, read } = await openLevelTexts(false)
    const log = openLocalLog({ stateMachine: machine })
    const extend = (text: string) => {
      const body = toExtension('a', text)
      vi.spyOn(body, 'encode').mockImplementation(() => expect.unreachable())
      return log.append<string>(EXTEND_KIND, body)
    }
    expect(await Promise.all(['x', 'y', 'z'].map(extend))).toEqual(
      ['x', 'xy', 'xyz'].map((outcome) => ({ seq: 1, outcome })),
    )
    const refused = [extend('never'), log.append(UNKNOWN_KIND, Buffer.alloc(0))]
    for (const one of refused) await expect(one).rejects.toMatchObject({ code: 'LOG_FORMAT_UNKNOWN' })
    expect(await extend('!')).toEqual({ seq: 2, outcome: 'xyz!' })
    vi.spyOn(level, 'write').mockRejectedValueOnce(new Error('the disk is full'))
    await expect(extend('never')).rejects.toThrow('the disk is full')
    const last = extend('?')
    await log.close()
    expect(await last).toEqual({ seq: 3, outcome: 'xyz!?' })
    expect(await read()).toEqual({ a: 'xyz!?' })
    await level.close()
    const again = openLocalLog({ stateMachine: (await openLevelTexts(false, folder)).machine })
    expect([again.epoch, again.state.applied]).toEqual([log.epoch, 3])
    expect(await again.append(EXTEND_KIND, toExtension('a', '.'))).toEqual({ seq: 4, outcome: 'xyz!?.' })
    await again.close()
  })

  it('of a cluster: it repeats a failed write, and applies the frames before an unknown entry', async () => {
    const { machine, level, countEvaluations, read } = await openLevelTexts(true)
    vi.spyOn(level, 'write').mockRejectedValueOnce(new Error('the disk is full'))
    const outcomes: unknown[] = []
    const [onRetry, onFatal] = [vi.fn<() => void>(), vi.fn<(error: Error, seq: number) => void>()]
    const applier = new Applier({
      stateMachine: machine,
      start: createStartPosition('e'),
      isAwaited: () => true,
      onApplied: (_frame, _decisions, results) => void outcomes.push(...results),
      onIgnored() {},
      onAdvance() {},
      onLease() {},
      onRetry,
      onFatal,
    })
    onTestFinished(() => applier.end())
    const toMessage = (seq: number, kind: number): LogMessage => {
      const entries = ['x', 'y'].map((text) => ({ kind, term: 0, body: toExtension('a', text).encode() }))
      return { seq, at: 0, data: encodeFrame({ writer: '00'.repeat(8), number: seq, entries }, 1e6)[0]! }
    }
    applier.enqueue([toMessage(1, EXTEND_KIND)])
    await waitUntil(() => outcomes.length === 2)
    expect([outcomes, onRetry.mock.calls.length, countEvaluations()]).toEqual([['x', 'xy'], 1, 1])
    applier.enqueue([toMessage(2, EXTEND_KIND), toMessage(3, UNKNOWN_KIND)])
    await waitUntil(() => onFatal.mock.calls.length > 0)
    expect(onFatal).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code: 'LOG_FORMAT_UNKNOWN' }), 3)
    await applier.end()
    expect([machine.getPosition()!.seq, await read()]).toEqual([2, { a: 'xyxy' }])
  })
})

async function* toChunks(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}
