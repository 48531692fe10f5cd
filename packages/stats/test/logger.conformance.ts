import { openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { StatsLogger, LoggerOptions } from '../src/logger/logger.ts'
import { getLostLines } from '@influencer-stats/runtime/line-sink'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'

export interface LoggerTraits {
  /** True if it drops lines when there are too many. */
  readonly drops?: boolean
  /** True if it writes no lines at all. */
  readonly silent?: boolean
}

/** Conformance suite of every logger. */
export function testLogger(
  name: string,
  create: (options: LoggerOptions) => Promise<StatsLogger>,
  traits: LoggerTraits,
): void {
  const { drops = false, silent = false } = traits

  /** Returns the lines of a logger after its close. */
  async function readLines(use: (logger: StatsLogger) => void): Promise<string[]> {
    const file = join(createTemporaryFolder(), 'log')
    const to = openSync(file, 'a')
    const logger = await create({ to, level: 'debug', secrets: ['a key'] })
    use(logger)
    await logger.close()
    return readFileSync(file, 'utf8').split('\n').slice(0, -1)
  }

  describe(`logger ${name}`, () => {
    it(silent ? 'writes nothing' : 'writes its messages in order, one line each', async () => {
      const lines = await readLines((logger) => {
        logger.debug('first step')
        logger.info('second')
        logger.error('third', new Error('the cause'))
      })
      expect(lines).toHaveLength(silent ? 0 : 3)
      if (silent) return
      expect(lines[0]).toContain('first step')
      expect(lines[1]).toContain('second')
      expect(lines[2]).toContain('third')
      expect(lines[2]).toContain('the cause')
    })

    it(drops ? 'drops excess lines, and reports their number' : 'loses no line when there are many', async () => {
      let dropped = 0
      const lines = await readLines((logger) => {
        for (let i = 0; i < 5_000; i++) logger.debug(`step ${i}`)
        dropped = logger.dropped
      })
      if (silent) return
      if (!drops) {
        expect(lines).toHaveLength(5_000)
        expect(lines.at(-1)).toContain('step 4999')
        return
      }
      expect(dropped).toBe(4_000)
      expect(lines).toHaveLength(1_001)
      expect(lines.at(-1)).toContain('4000 lines dropped')
    })

    it('survives a full disk, and counts the lines that it could not write', async () => {
      const before = getLostLines()
      const logger = await create({ to: openSync('/dev/full', 'w'), level: 'debug' })
      for (let i = 0; i < 3; i++) logger.error(`step ${i}`, new Error('the cause'))
      await logger.close()
      expect(getLostLines() - before).toBe(silent ? 0 : 3)
    })

    it('writes no secret, also if a fault contains it', async () => {
      const url = 'http://127.0.0.1/videos?key=a%20key'
      const cause = Object.assign(new TypeError(`cannot read ${url}`), { input: url })
      const lines = await readLines((logger) => {
        logger.debug('asking with a key')
        logger.info(url)
        logger.error('in vain', new Error('cannot ask with a key', { cause }))
      })
      expect(lines).toHaveLength(silent ? 0 : 3)
      for (const line of lines) expect(line).not.toMatch(/a key|a%20key/)
    })

    it('can be closed twice', async () => {
      const to = openSync(join(createTemporaryFolder(), 'log'), 'a')
      const logger = await create({ to })
      await logger.close()
      await expect(logger.close()).resolves.toBeUndefined()
    })
  })
}
