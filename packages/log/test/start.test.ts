import { expect, it } from 'vitest'
import { startingPosition } from '../src/jetstream/start.ts'
import { createLines } from './support/open-log.ts'
import { TextView } from './support/text-view.ts'

const kept = { epoch: 'e', seq: 9, at: 0, check: 0, writers: [] }

/**
 * A start on a log that begins at 10, whose servers tell of these newest snapshots, one after the other.
 * @param begins where it begins once a snapshot was loaded, once two were, and so on
 */
async function starting(newest: readonly (number | undefined)[], patience: number, begins: readonly number[] = [10]) {
  const view = new TextView()
  let asked = 0
  let loads = 0
  const last = <T>(all: readonly T[], index: number) => all[Math.min(index, all.length - 1)]!
  const snapshots = {
    save: () => Promise.reject(new Error('not asked for')),
    newest: async () => last(newest, asked++),
    async load() {
      loads++
      view.kept = { ...kept, seq: last(newest, asked - 1)! }
    },
  }
  const infoAt = (first: number) => ({ created: 'e', state: { first_seq: first, last_seq: 20 } })
  const jsm = { streams: { info: async () => infoAt(last(begins, loads - 1)) } }
  const options = { service: 'test', stream: 's', view, log: createLines().log, patience }
  const position = await startingPosition(options as never, jsm as never, infoAt(10) as never, snapshots)
  return { position, asked }
}

it('waits for the newest snapshot, which a server that was away does not have yet', async () => {
  expect(await starting([undefined, 4, 9], 60_000)).toEqual({ position: kept, asked: 3 })
})

it('does not start where there is none that fits', async () => {
  await expect(starting([4], 0)).rejects.toMatchObject({ code: 'LOG_TRIMMED' })
})

it('loads a newer snapshot where the log was trimmed while it loaded one, but not for ever', async () => {
  const newer = { ...kept, seq: 14 }
  expect(await starting([9, 14], 0, [12, 15])).toEqual({ position: newer, asked: 2 })
  const ever = Array.from({ length: 20 }, (_, i) => 10 + 2 * i)
  const begins = ever.map((seq) => seq + 2)
  await expect(starting(ever, 0, begins)).rejects.toMatchObject({ code: 'LOG_TRIMMED' })
})
