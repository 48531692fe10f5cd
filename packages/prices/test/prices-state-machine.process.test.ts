import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { describe, expect, it } from 'vitest'
import * as kinds from '../src/catalog/log-entries.ts'
import { LOG_IMPORT_TIMEOUT_MS } from '../src/catalog/prices-state-machine.ts'
import type { Price } from '../src/core/price.ts'
import { META_KEY, STAGED_RANGE } from '../src/storage/page-store.ts'
import { toComparable, toImportId } from './support/generated-logs.ts'
import { createPrice, toUuid } from './support/prices.ts'
import {
  listPrices,
  logEntries,
  MAX_PRICES,
  openTestStateMachine,
  toEntries,
  toPosition,
  type TestStateMachine,
  type WriteFault,
} from './support/state-machine.ts'

describe('the state machine', () => {
  it('applies an import that creates a new generation as a standalone service does', async () => {
    const some = Array.from({ length: 2_500 }, (_, i) =>
      createPrice({ id: toUuid(i), charValues: [{ char: 'n', value: i % 40 }] }),
    )
    const lines = (prices: readonly Price[]) => prices.map((one) => JSON.stringify(one)).join('\n')
    const [first, second] = [toImportId(1), toImportId(2)]
    const one = await openTestStateMachine()
    const text = lines(some)
    const entries = toEntries([
      logEntries.put(createPrice({ id: toUuid(9_000) }), 9_999),
      logEntries.begin(first, false, 9_999),
      logEntries.piece(first, 0, text.slice(0, 99_999)),
      logEntries.piece(first, 1, text.slice(99_999)),
      logEntries.end(first, 2),
      logEntries.begin(second, true, 9_999),
      logEntries.piece(second, 0, lines(some.slice(0, 3))),
      logEntries.end(second, 1),
    ])
    const outcomes = await one.stateMachine.apply(entries.slice(0, 5), toPosition(5))
    expect(outcomes.at(-1)).toEqual({ imported: 2_500, prices: 2_501 })
    expect((await listPrices(one.catalog)).map(({ id }) => id)).toEqual([toUuid(9_000), ...some.map(({ id }) => id)])
    const again = await one.reopen()
    expect((await again.stateMachine.apply(entries.slice(5), toPosition(8))).at(-1)).toEqual({ imported: 3, prices: 3 })
    // The previous generation is not stored: the log has all data.
    expect(await again.level.db.keys({ gte: 'g', lt: 'h' }).all()).not.toContainEqual(
      expect.stringMatching(/^g00000000[12]!/),
    )
    await again.close()
  })

  it('removes all prices that match, or none if the write fails and the process dies', async () => {
    const some = Array.from({ length: 2_500 }, (_, i) => createPrice({ id: toUuid(i), groupId: `g${i % 5}`, value: i }))
    const id = toImportId(1)
    let fault: WriteFault | undefined
    let one = await openTestStateMachine(createTemporaryFolder(), () => fault)
    const entries = toEntries([
      logEntries.begin(id, true, 9_999),
      logEntries.piece(id, 0, some.map((price) => JSON.stringify(price)).join('\n')),
      logEntries.end(id, 1),
      logEntries.removeWhere({ conditions: { groupId: 'no', charValues: [] } }),
      logEntries.removeWhere({ conditions: { groupId: 'g0', charValues: [] }, expected: 7 }),
      // These are edits.
      logEntries.removeWhere({ conditions: { groupId: 'g0', charValues: [] }, expected: 500 }),
      logEntries.put(createPrice({ id: toUuid(9_000), value: '1.50' as never }), 9_999),
    ])
    const outcomes = await one.stateMachine.apply(entries, toPosition(7))
    expect([toComparable(outcomes[3]), toComparable(outcomes[4])]).toEqual(['GROUP_NOT_FOUND', 'MATCH_COUNT'])
    expect(outcomes[5]).toEqual({ matched: 500, deleted: 500 })
    const before = await listPrices(one.catalog)
    expect(before).toHaveLength(2_001)
    // These are too many for edits.
    const [kind, body] = logEntries.removeWhere({ conditions: { minValue: 1.6, charValues: [] } })
    const removal = { seq: 8, at: 0, kind, body: Buffer.from(body) }
    fault = 'lost'
    await expect(one.stateMachine.apply([removal], toPosition(8))).rejects.toThrow('the disk failed')
    fault = undefined
    one = await one.reopen()
    expect(await listPrices(one.catalog)).toEqual(before)
    expect(await one.stateMachine.apply([removal], toPosition(8))).toEqual([{ matched: 1_999, deleted: 1_999 }])
    one = await one.reopen()
    expect((await listPrices(one.catalog)).map((price) => price.value)).toEqual([1, '1.50'])
    await one.close()
  })

  it('reports the entries after its position that are applied, if the process dies within a batch', async () => {
    let writesLeft = Infinity
    let one = await openTestStateMachine(createTemporaryFolder(), () => (writesLeft-- > 0 ? undefined : 'lost'))
    // Two changes of one price are two writes.
    const entries = toEntries([1, 2, 3, 4].map((value) => logEntries.put(createPrice({ id: toUuid(1), value }))))
    await one.stateMachine.apply(entries.slice(0, 1), toPosition(1))
    writesLeft = 2
    await expect(one.stateMachine.apply(entries.slice(1), toPosition(4))).rejects.toThrow('the disk failed')
    writesLeft = Infinity
    one = await one.reopen('settled')
    expect(one.stateMachine.getPosition()).toEqual({ ...toPosition(1), partialSeq: 3 })
    // A batch may end before all of these entries.
    await one.stateMachine.apply(entries.slice(1, 2), toPosition(2))
    expect(one.stateMachine.getPosition()).toEqual({ ...toPosition(2), partialSeq: 3 })
    await one.stateMachine.apply(entries.slice(2), toPosition(4))
    expect(one.stateMachine.getPosition()).toEqual(toPosition(4))
    expect((await listPrices(one.catalog)).map(({ value }) => value)).toEqual([4])
    await one.close()
  })

  it('applies entries of older versions by their rules', async () => {
    const one = await openTestStateMachine()
    const id = toImportId(1)
    const { id: key, ...price } = createPrice({ from: '2026-01-01', to: '2026-01-31' })
    const timed = `${JSON.stringify({ id: key, ...price, from: '2026-01-01T10:00Z' })}\n`
    const [, begin] = logEntries.begin(id)
    const entries = toEntries([
      [kinds.PUT_V1, kinds.encodePut(key, JSON.stringify(price), MAX_PRICES)],
      [kinds.IMPORT_BEGIN_V1, begin],
      logEntries.piece(id, 0, timed),
      logEntries.begin(id),
      logEntries.piece(id, 0, timed),
    ])
    const outcomes = await one.stateMachine.apply(entries, toPosition(5))
    expect(outcomes.map(toComparable)).toEqual([true, true, 'BAD_LINE', true, true])
    expect((await listPrices(one.catalog))[0]).toMatchObject({ from: '2026-01-01', to: '2026-01-31' })
    // The restart reads the pieces of the open import again, by the same rules.
    const again = await one.reopen()
    const end = { seq: 6, at: 0, kind: kinds.IMPORT_END, body: logEntries.end(id, 1)[1] }
    expect(await again.stateMachine.apply([end], toPosition(6))).toEqual([{ imported: 1, prices: 1 }])
    expect((await listPrices(again.catalog))[0]).toMatchObject({ from: '2026-01-01T10:00Z', to: '2026-01-31' })
    await again.close()
  })

  it('rounds the values of entries of older versions, as they did', async () => {
    const one = await openTestStateMachine()
    const [id, wrong] = [toImportId(1), toImportId(2)]
    const { id: key, ...price } = createPrice()
    const write = (value: string, own = {}) =>
      JSON.stringify({ ...price, ...own, value: 0 }).replace(/"value":0(?=[,}])/, `"value":${value}`)
    const [, begin] = logEntries.begin(id)
    const [, beginWrong] = logEntries.begin(wrong)
    const entries = toEntries([
      [kinds.PUT_V1, kinds.encodePut(key, write('9007199254740993'), MAX_PRICES)],
      [kinds.IMPORT_BEGIN_V1, begin],
      logEntries.piece(id, 0, `${write('1.10', { id: toUuid(7) })}\n`),
      logEntries.end(id, 1),
      [kinds.IMPORT_BEGIN_V1, beginWrong],
      logEntries.piece(wrong, 0, `${write('"1.10"', { id: toUuid(8) })}\n`),
      [kinds.IMPORT_BEGIN_V1, beginWrong],
      logEntries.piece(wrong, 0, `${write('1', { id: 'text' })}\n`),
    ])
    const outcomes = await one.stateMachine.apply(entries, toPosition(8))
    expect(outcomes.map(toComparable).filter((outcome) => outcome === 'BAD_LINE')).toHaveLength(2)
    const values = new Map((await listPrices(one.catalog)).map(({ id: found, value }) => [found, value]))
    expect([values.get(key), values.get(toUuid(7))]).toEqual([9_007_199_254_740_992, 1.1])
    await one.close()
  })

  it('restores a snapshot of an older version', async () => {
    const one = await openTestStateMachine()
    await one.stateMachine.apply(toEntries([logEntries.put(createPrice())]), toPosition(1))
    async function* readOlder() {
      for await (const chunk of one.stateMachine.snapshot())
        yield Buffer.from(chunk.toString('latin1').replace('prices snapshot 2', 'prices snapshot 1'), 'latin1')
    }
    const other = await openTestStateMachine()
    await other.stateMachine.restore(readOlder())
    expect(await listPrices(other.catalog)).toEqual(await listPrices(one.catalog))
    await Promise.all([one.close(), other.close()])
  })

  it('refuses an import again if the refusal was not persisted', async () => {
    const id = toImportId(1)
    for (const wrong of [
      [logEntries.piece(id, 0, 'what is this?\n')],
      [logEntries.piece(id, 0, '{"half":'), logEntries.end(id, 1)],
    ]) {
      let fault: WriteFault | undefined
      const one = await openTestStateMachine(createTemporaryFolder(), () => fault)
      const entries = toEntries([logEntries.begin(id), ...wrong])
      await one.stateMachine.apply(entries.slice(0, -1), toPosition(entries.length - 1))
      const apply = () => one.stateMachine.apply(entries.slice(-1), toPosition(entries.length))
      fault = 'lost'
      await expect(apply()).rejects.toThrow('the disk failed')
      fault = undefined
      expect([(await apply()).map(toComparable), one.catalog.meta.log?.open]).toEqual([['BAD_LINE'], undefined])
      await one.close()
    }
  })

  it('skips no entry of a log that continues a lost one, although it has applied a part of a batch', async () => {
    let failsAt = Infinity
    let one = await openTestStateMachine(createTemporaryFolder(), () => (--failsAt < 0 ? 'lost' : undefined))
    const put = (i: number, value = 1) => logEntries.put(createPrice({ id: toUuid(i), value }))
    await one.stateMachine.apply(toEntries([put(1)]), toPosition(1))
    // Changes of the same price are separate writes. The second one fails.
    const batch = toEntries([put(1), put(2), put(2, 3)]).slice(1)
    failsAt = 1
    await expect(one.stateMachine.apply(batch, toPosition(3))).rejects.toThrow('the disk failed')
    failsAt = Infinity
    one = await one.reopen('settled')
    await one.stateMachine.apply([], { ...toPosition(1), epoch: 'f' })
    const entries = toEntries([put(1), put(3), put(4)]).slice(1)
    await one.stateMachine.apply(entries, { ...toPosition(3), epoch: 'f' })
    expect((await listPrices(one.catalog)).map(({ id }) => id)).toEqual([1, 2, 3, 4].map(toUuid))
    await one.close()
  })

  it('stores no data of a finished import, for any outcome', async () => {
    const staged = ({ level }: TestStateMachine) => level.db.keys(STAGED_RANGE).all()
    const line = `${JSON.stringify(createPrice())}\n`
    const late = LOG_IMPORT_TIMEOUT_MS + 1
    for (const end of [
      [logEntries.end(toImportId(1), 1)],
      [logEntries.abort(toImportId(1))],
      [logEntries.expire(late)],
      [logEntries.piece(toImportId(1), 1, 'what is this?\n')],
      [[...logEntries.begin(toImportId(2)), late] as const, [...logEntries.abort(toImportId(2)), late] as const],
    ]) {
      const one = await openTestStateMachine()
      const entries = toEntries([logEntries.begin(toImportId(1)), logEntries.piece(toImportId(1), 0, line), ...end])
      await one.stateMachine.apply(entries.slice(0, 2), toPosition(2))
      expect(await staged(one)).toHaveLength(1)
      const again = await one.reopen()
      expect(again.catalog.meta.log?.open?.id).toBe(toImportId(1))
      await again.stateMachine.apply(entries.slice(2), toPosition(entries.length))
      expect([again.catalog.meta.log?.open, await staged(again)]).toEqual([undefined, []])
      await again.close()
    }
  })

  it('discards data that a power cut may have torn, and reuses data after a clean shutdown', async () => {
    const one = await openTestStateMachine()
    await one.stateMachine.apply(toEntries([logEntries.put(createPrice())]), toPosition(1))
    const torn = await one.reopen('settled')
    expect(torn.stateMachine.getPosition()).toEqual(toPosition(1))
    await torn.stateMachine.apply([{ ...toEntries([logEntries.put(createPrice())])[0]!, seq: 2 }], toPosition(2))
    const meta = JSON.parse((await torn.level.db.get(META_KEY))!)
    await torn.level.db.put(META_KEY, JSON.stringify({ ...meta, log: { ...meta.log, boot: 'of another run' } }))
    const { catalog: owner, stateMachine: view, close } = await torn.reopen()
    expect([view.getPosition(), owner.size]).toEqual([undefined, 0])
    await close()
  })

  it('stops at an unknown entry, after it has applied the known ones', async () => {
    const one = await openTestStateMachine()
    const entries = toEntries([logEntries.put(createPrice()), [99, kinds.EMPTY_BODY]])
    await expect(one.stateMachine.apply(entries, toPosition(2))).rejects.toMatchObject({
      code: 'LOG_FORMAT_UNKNOWN',
      seq: 2,
    })
    const damaged = toEntries([logEntries.put(createPrice()), [kinds.PUT, Buffer.from('{')]])
    await expect(one.stateMachine.apply(damaged, toPosition(2))).rejects.toMatchObject({ code: 'LOG_DAMAGED', seq: 2 })
    await one.close()
  })
})
