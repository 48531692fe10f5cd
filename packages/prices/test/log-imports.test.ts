import { unavailable } from '@influencer-stats/log/errors'
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { IMPORT_ABORTED, IMPORT_BEGINS } from '../src/core/log-entries.ts'
import { LogImports } from '../src/log-imports.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Imports over a log that takes nothing while it is away; `kinds` are those of what it was given, and of what it took. */
function importing() {
  const log = { isAway: false, given: [] as number[], taken: [] as number[] }
  const imports = new LogImports({
    async append(kind) {
      log.given.push(kind)
      // It takes a moment.
      for (let i = 0; i < 20; i++) await Promise.resolve()
      if (log.isAway) throw unavailable(new Error('it is away'))
      log.taken.push(kind)
      return true as never
    },
    view: { open: undefined },
    most: 100,
    limit: 1_000,
  })
  onTestFinished(() => imports.close())
  return { log, imports }
}

const begin = { replace: false, empty: false }

it('makes room for others once the log is back, where an import broke off while it was away', async () => {
  const { log, imports } = importing()
  const token = await imports.start(begin)
  log.isAway = true
  void imports.abort(token)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(log.taken).toEqual([IMPORT_BEGINS])
  log.isAway = false
  await vi.advanceTimersByTimeAsync(1_000)
  expect(log.taken).toEqual([IMPORT_BEGINS, IMPORT_ABORTED])
  await vi.advanceTimersByTimeAsync(10_000)
  expect(log.taken).toEqual([IMPORT_BEGINS, IMPORT_ABORTED])
})

it('has made room once an import that is refused is answered', async () => {
  const { log, imports } = importing()
  const token = await imports.start(begin)
  await imports.abort(token)
  expect(log.taken).toEqual([IMPORT_BEGINS, IMPORT_ABORTED])
})

it('makes room, too, where nobody knows whether an import has begun', async () => {
  const { log, imports } = importing()
  log.isAway = true
  await expect(imports.start(begin)).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' })
  log.isAway = false
  await vi.advanceTimersByTimeAsync(1_000)
  expect(log.taken).toEqual([IMPORT_ABORTED])
})

it('says nothing more once it is closed', async () => {
  const { log, imports } = importing()
  const token = await imports.start(begin)
  log.isAway = true
  imports.close()
  await imports.abort(token)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(log.given).toEqual([IMPORT_BEGINS, IMPORT_ABORTED])
})
