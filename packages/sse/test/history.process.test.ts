import { readFormatFile } from '@influencer-stats/runtime/testing/read-format'
import { startTestNatsServer } from '@influencer-stats/log/testing/nats'
import type { NatsServer } from '@influencer-stats/log/nats-server'
import { openLevel } from '@influencer-stats/runtime/level'
import { cpSync, readdirSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { History } from '../src/history/history.ts'
import { createSelectors } from '../src/core/selectors.ts'
import { RingHistory } from '../src/history/ring-history.ts'
import { parts } from '../src/parts.ts'
import { describeHistory } from './history.conformance.ts'
import { openLogHistory } from './support/log-history.ts'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'

const MAX_EVENTS: Record<keyof typeof parts.history, number> = { none: 1, ring: Infinity, level: Infinity }

for (const [name, create] of Object.entries(parts.history)) {
  describeHistory(name, (options) => create({ ...options, folder: createTemporaryFolder() }), {
    maxCount: MAX_EVENTS[name as keyof typeof MAX_EVENTS],
  })
}

let server: NatsServer
beforeAll(async () => {
  server = await startTestNatsServer()
})
describeHistory('of a cluster node', (options) => openLogHistory(server.url, options), { maxCount: Infinity })

const options = { count: 3, bytes: 1_000, age: 3_600_000, topics: 2, total: 10_000 }
const event = (seq: number, topic: string, value = `v${seq}`) => ({ seq, at: Date.now(), topic, value })

describe('history ring', () => {
  it('continues from the state of another history, including its gaps', () => {
    const first = new RingHistory(options)
    first.append([1, 2, 3, 4, 5].map((seq) => event(seq, 'a')))
    first.append([event(6, 'b'), event(7, 'c')])
    const second = new RingHistory(options, structuredClone(first.getState()))
    expect(second.getState()).toEqual(first.getState())
    for (const history of [first, second]) {
      history.append([event(8, 'c')])
      expect(history.readSince(createSelectors(['a']), 2).complete).toBe(true)
      expect(history.readSince(createSelectors(['a']), 1).complete).toBe(false)
      expect(history.readSince(createSelectors(['b']), 6).complete).toBe(true)
      expect(history.readSince(createSelectors(['b']), 5).complete).toBe(false)
      expect(history.readSince(createSelectors(['c']), 6).events.map(({ seq }) => seq)).toEqual([7, 8])
    }
  })
})

describe('history level', () => {
  it('preserves epoch, values and gaps over a restart, and reuses no sequence', async () => {
    const folder = createTemporaryFolder()
    const first = await parts.history.level({ ...options, folder })
    for (const seq of [1, 2, 3, 4, 5]) await first.append([event(seq, 'a')])
    await first.append([event(6, 'b')])
    await first.append([], 9)
    const { epoch } = first
    await first.close()

    const second = await parts.history.level({ ...options, folder })
    expect(second.epoch).toBe(epoch)
    expect(second.seq).toBeGreaterThan(9)
    expect(second.getCurrent('b')).toMatchObject({ value: 'v6' })
    expect(second.readSince(createSelectors(['a']), 2)).toMatchObject({
      events: [{ seq: 3 }, { seq: 4 }, { seq: 5 }],
      complete: true,
    })
    expect(second.readSince(createSelectors(['a']), 1)).toMatchObject({ complete: false })
    expect(second.readSince(createSelectors(['b']), 0)).toMatchObject({ events: [{ seq: 6 }], complete: true })
    const next = second.seq + 1
    await second.append([event(next, 'a'), event(next + 1, 'c')])
    await second.append([event(next + 2, 'c')])
    await second.close()

    const third = await parts.history.level({ ...options, folder })
    expect(third.readSince(createSelectors(['b']), 6)).toMatchObject({ complete: true })
    expect(third.readSince(createSelectors(['b']), 5)).toMatchObject({ events: [], complete: false })
    await third.close()
  })
})

it('history level assigns no id of the original in a copied folder, because its epoch is new', async () => {
  const folder = createTemporaryFolder()
  const copy = join(folder, 'copy')
  const open = (data: string) => parts.history.level({ ...options, folder: data })
  const first = await open(join(folder, 'data'))
  await first.append([event(1, 'a')])
  await first.close()
  cpSync(join(folder, 'data'), copy, { recursive: true })
  const [original, copied] = [await open(join(folder, 'data')), await open(copy)]
  expect([original.epoch === first.epoch, copied.epoch === first.epoch]).toEqual([true, false])
  expect(copied.getCurrent('a')).toMatchObject({ seq: 1, value: 'v1' })
  await Promise.all([original.close(), copied.close()])
  const again = await open(copy)
  expect(again.epoch).toBe(copied.epoch)
  await again.close()
})

describe('history level with updates of several topics', () => {
  it('stores one while any topic has it, and it closes no gap of another topic', async () => {
    const folder = createTemporaryFolder()
    const first = await parts.history.level({ ...options, folder })
    await first.append([{ ...event(1, 'a'), more: { alternates: ['b'] } }])
    for (const seq of [2, 3, 4, 5, 6]) await first.append([event(seq, 'a')])
    await first.close()
    for (let life = 0; life < 2; life++) {
      const history = await parts.history.level({ ...options, folder })
      expect(history.readSince(createSelectors(['b']), 0)).toMatchObject({ events: [{ seq: 1 }], complete: true })
      expect(history.readSince(createSelectors(['a']), 1)).toMatchObject({
        events: [{ seq: 4 }, { seq: 5 }, { seq: 6 }],
        complete: false,
      })
      expect(history.readSince(createSelectors(['a']), 3)).toMatchObject({ complete: true })
      await history.close()
    }
    // Once its last topic has dropped it, it is deleted.
    const last = await parts.history.level({ ...options, folder })
    for (let i = 1; i <= 4; i++) await last.append([event(last.seq + 1, 'b')])
    await last.close()
    const db = await openLevel(folder, { service: 'sse', format: 3 })
    expect(await db.get('e!0000000000000001')).toBeUndefined()
    await db.close()
  })
})

describe('history level after a run that ended uncleanly', () => {
  /** Returns a copy of a folder whose history was not closed, as after a killed process. */
  async function copyAfterCrash(use: (history: History) => Promise<void>): Promise<string> {
    const [folder, left] = [createTemporaryFolder(), createTemporaryFolder()]
    const history = await parts.history.level({ ...options, folder })
    await use(history)
    cpSync(folder, left, { recursive: true })
    await history.close()
    return left
  }
  const logOf = (folder: string) =>
    join(
      folder,
      'level',
      readdirSync(join(folder, 'level')).find((name) => name.endsWith('.log'))!,
    )
  const reopen = async (folder: string) => {
    const history = await parts.history.level({ ...options, folder })
    onTestFinished(() => history.close())
    return history
  }
  const pretendPowerCut = async (folder: string) => {
    const db = await openLevel(folder, { service: 'sse', format: 3 })
    await db.put('meta', JSON.stringify({ ...JSON.parse((await db.get('meta'))!), boot: 'another' }))
    await db.close()
  }

  it('is complete at its stored events after a kill', async () => {
    const folder = await copyAfterCrash(async (history) => {
      for (const seq of [1, 2, 3]) await history.append([event(seq, 'a')])
    })
    const { since, seq } = bindHistory(await reopen(folder))
    expect(since(createSelectors(['a']), 2)).toMatchObject({ events: [{ seq: 3 }], complete: true })
    expect(since(createSelectors(['a']), 3)).toMatchObject({ events: [], complete: true })
    expect(since(createSelectors(['a']), seq)).toMatchObject({ complete: true })
  })

  it('reports a gap at every later start if the event of the client may be in a lost tail', async () => {
    const folder = await copyAfterCrash(async (history) => {
      for (const seq of [1, 2, 3, 4, 5]) await history.append([event(seq, 'a', 'x'.repeat(200))])
    })
    const log = logOf(folder)
    truncateSync(log, statSync(log).size - 300)
    for (let life = 0; life < 3; life++) {
      const history = await parts.history.level({ ...options, folder })
      expect(history.getCurrent('a')!.seq).toBeLessThan(5)
      expect(history.readSince(createSelectors(['a']), 5)).toMatchObject({ complete: false })
      expect(history.readSince(createSelectors(['other']), 5)).toMatchObject({ complete: false })
      expect(history.readSince(createSelectors(['a']), history.seq)).toMatchObject({ complete: true })
      // A serving thread reports it, too.
      expect(
        new RingHistory(options, structuredClone(history.getState())).readSince(createSelectors(['a']), 5),
      ).toMatchObject({
        complete: false,
      })
      await history.close()
    }
  })

  it('reports a gap to all clients from before a power cut', async () => {
    const folder = await copyAfterCrash((history) => history.append([event(1, 'a'), event(2, 'a')]) as Promise<void>)
    await pretendPowerCut(folder)
    const { since, seq } = bindHistory(await reopen(folder))
    expect(since(createSelectors(['a']), 1)).toMatchObject({ events: [{ seq: 2 }], complete: false })
    expect(since(createSelectors(['a']), 2)).toMatchObject({ complete: false })
    expect(since(createSelectors(['a']), seq)).toMatchObject({ complete: true })
  })

  it.each([0, 1, 2, 50])('reuses no sequence after a loss of the last %i events', async (lost) => {
    const reserved = 1_000_000
    const given = [reserved - 1, reserved, reserved + 1, reserved + 2]
    const folder = await copyAfterCrash(async (history) => {
      for (const seq of given) await history.append([event(seq, 'a')])
      // Assigns sequences to entries that are not stored.
      await history.append([], 3 * reserved)
    })
    const db = await openLevel(folder, { service: 'sse', format: 3 })
    for (const seq of given.slice(given.length - lost)) await db.del(`e!${String(seq).padStart(16, '0')}`)
    await db.close()
    const { seq } = bindHistory(await reopen(folder))
    expect(seq).toBeGreaterThan(3 * reserved)
  })

  it('upgrades data of format 1, and reuses no sequence that a lost tail may have had', async () => {
    const folder = createTemporaryFolder()
    cpSync(new URL('./fixtures/format-1', import.meta.url), folder, { recursive: true })
    const history = await reopen(folder)
    // The folder is a copy, so it begins a new history.
    expect(history.epoch).not.toBe('mwre4sjwgj2')
    expect(history.getCurrent('a')).toMatchObject({ seq: 999_999, value: 'last' })
    expect(history.readSince(createSelectors(['a']), 999_998)).toMatchObject({ events: [{ value: 'last' }] })
    expect(history.seq).toBe(2_000_000)
    expect(readFormatFile(folder)).toEqual({ service: 'sse', format: 3 })
  })
})

const bindHistory = (history: History) => ({ since: history.readSince.bind(history), seq: history.seq })
