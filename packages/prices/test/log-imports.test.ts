import { createUnavailableError } from '@influencer-stats/log/errors'
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { IMPORT_ABORT, IMPORT_BEGIN } from '../src/catalog/log-entries.ts'
import { NO_META } from '../src/storage/generation-reader.ts'
import { LogImports } from '../src/import/log-imports.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/**
 * Imports over a log that rejects entries while it is unavailable. `kinds` has the kinds of all appended entries, and
 * of the accepted ones.
 */
function createImports() {
  const log = { isUnavailable: false, given: [] as number[], taken: [] as number[] }
  const imports = new LogImports({
    async append(kind) {
      log.given.push(kind)
      // An append takes a moment.
      for (let i = 0; i < 20; i++) await Promise.resolve()
      if (log.isUnavailable) throw createUnavailableError(new Error('it is away'))
      log.taken.push(kind)
      return true as never
    },
    catalog: { meta: NO_META },
    maxPrices: 100,
    maxImportBytes: 1_000,
  })
  onTestFinished(() => imports.close())
  return { log, imports }
}

const begin = { replace: false, empty: false }

it('frees the slot of an import that was interrupted during an outage, once the log is back', async () => {
  const { log, imports } = createImports()
  const token = await imports.start(begin)
  log.isUnavailable = true
  void imports.abort(token)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(log.taken).toEqual([IMPORT_BEGIN])
  log.isUnavailable = false
  await vi.advanceTimersByTimeAsync(1_000)
  expect(log.taken).toEqual([IMPORT_BEGIN, IMPORT_ABORT])
  await vi.advanceTimersByTimeAsync(10_000)
  expect(log.taken).toEqual([IMPORT_BEGIN, IMPORT_ABORT])
})

it('frees the slot of a refused import before it answers', async () => {
  const { log, imports } = createImports()
  const token = await imports.start(begin)
  await imports.abort(token)
  expect(log.taken).toEqual([IMPORT_BEGIN, IMPORT_ABORT])
})

it('frees the slot of an import whose begin has an unknown outcome', async () => {
  const { log, imports } = createImports()
  log.isUnavailable = true
  await expect(imports.start(begin)).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' })
  log.isUnavailable = false
  await vi.advanceTimersByTimeAsync(1_000)
  expect(log.taken).toEqual([IMPORT_ABORT])
})

it('appends no entries after close', async () => {
  const { log, imports } = createImports()
  const token = await imports.start(begin)
  log.isUnavailable = true
  imports.close()
  await imports.abort(token)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(log.given).toEqual([IMPORT_BEGIN, IMPORT_ABORT])
})
