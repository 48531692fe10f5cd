import { expect, it } from 'vitest'
import { resolveStartPosition } from '../src/jetstream/start-position.ts'
import { createLogCapture } from './support/open-log.ts'
import { TextStateMachine } from './support/text-state-machine.ts'

const storedPosition = { epoch: 'e', seq: 9, at: 0, check: 0, writers: [] }

/**
 * Starts on a log that begins at 10. Its servers report these newest snapshots, one after the other.
 * @param firstSequences first sequence of the log after one loaded snapshot, after two, and so on
 */
async function resolvePosition(
  newest: readonly (number | undefined)[],
  verifyTimeout: number,
  firstSequences: readonly number[] = [],
) {
  const stateMachine = new TextStateMachine()
  let requestCount = 0
  let loads = 0
  const pick = <T>(all: readonly T[], index: number) => all[Math.min(index, all.length - 1)]!
  const snapshots = {
    saveChunks: () => Promise.reject(new Error('not asked for')),
    save: () => Promise.reject(new Error('not asked for')),
    getLatest: async () => pick(newest, requestCount++),
    async load() {
      loads++
      stateMachine.savedPosition = { ...storedPosition, seq: pick(newest, requestCount - 1)! }
    },
  }
  const toInfo = (first: number) => ({ created: 'e', config: {}, state: { first_seq: first, last_seq: 20 } })
  const jsm = { streams: { info: async () => toInfo(pick([10, ...firstSequences], loads)) } }
  const options = { service: 'test', stream: 's', stateMachine, log: createLogCapture().log, verifyTimeout }
  const position = await resolveStartPosition(options as never, {
    jsm: jsm as never,
    info: toInfo(10) as never,
    snapshots,
    signal: new AbortController().signal,
    onStep() {},
    onRetry() {},
    onSnapshotLoad() {},
  })
  return { position, requestCount }
}

it('waits for the newest snapshot, which a server may not have after an outage', async () => {
  expect(await resolvePosition([undefined, 4, 9], 60_000)).toEqual({ position: storedPosition, requestCount: 3 })
})

it('does not start without a usable snapshot', async () => {
  await expect(resolvePosition([4], 0)).rejects.toMatchObject({ code: 'LOG_TRIMMED' })
})

it('loads a newer snapshot after a trim during the load, but not forever', async () => {
  const newer = { ...storedPosition, seq: 14 }
  expect(await resolvePosition([9, 14], 0, [12, 15])).toEqual({ position: newer, requestCount: 2 })
  const endless = Array.from({ length: 20 }, (_, i) => 10 + 2 * i)
  const firstSequences = endless.map((seq) => seq + 2)
  await expect(resolvePosition(endless, 0, firstSequences)).rejects.toMatchObject({ code: 'LOG_TRIMMED' })
})
