import { PINS } from '@influencer-stats/bench/processes'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { listHotFunctions, type HotFunction } from '../src/graph/hot-functions.ts'
import { startProfiled, type ProfiledProcess } from '../src/recording/profiled-process.ts'
import { INTERVALS, recordProcess, type ThreadRecording } from '../src/recording/record.ts'

const getFixture = (name: string) => fileURLToPath(new URL(`./fixtures/${name}.ts`, import.meta.url))

/** Runs a fixture, profiles it, and always stops it. */
async function profileFixture(
  name: string,
  args: readonly string[],
  record: (process: ProfiledProcess) => Promise<ThreadRecording[]>,
): Promise<ThreadRecording[]> {
  const process = await startProfiled(getFixture(name), args)
  try {
    return await record(process)
  } finally {
    await process.stop()
  }
}

const findFunction = (functions: readonly HotFunction[], name: string) =>
  functions.find((one) => one.function === name && one.category === 'app')!

/** Least difference that a test allows (percentage points). */
const MIN_TOLERANCE = 5
/** Four standard deviations of a share of 50 %. A busy machine gives few samples (percentage points). */
const computeTolerance = (samples: number) => Math.max(MIN_TOLERANCE, (4 * 50) / Math.sqrt(samples))

describe('two functions that share the work evenly', () => {
  let recordings: ThreadRecording[]
  beforeAll(async () => {
    recordings = await profileFixture('half-and-half', [], (process) => recordProcess(process, 6))
  })

  it('are profiled on every thread, in both kinds', () => {
    expect(recordings.map(({ kind, thread }) => `${kind} ${thread}`)).toEqual([
      'cpu main',
      'cpu thread-0',
      'allocation main',
      'allocation thread-0',
    ])
  })

  it.each([
    ['cpu', 'main'],
    ['cpu', 'thread-0'],
    ['allocation', 'main'],
    ['allocation', 'thread-0'],
  ])('have half of it each: %s, %s', (kind, thread) => {
    const { profile } = recordings.find((one) => one.kind === kind && one.thread === thread)!
    const tolerance = computeTolerance(kind === 'cpu' ? profile.total : profile.total / INTERVALS.allocation)
    const functions = listHotFunctions(profile)
    for (const name of ['left', 'right']) {
      const { self, total, file } = findFunction(functions, name)
      expect(file).toBe('flame/test/fixtures/half-and-half.ts')
      for (const share of [self, total]) expect(Math.abs(share - 50), `${name}: ${share} %`).toBeLessThan(tolerance)
    }
    expect(profile.total).toBeGreaterThan(kind === 'cpu' ? 300 : 1_000_000)
  })
})

describe('a short system call after some JavaScript', { retry: 3 }, () => {
  // Without pinning to one processor, the sampler's delay depends on the platform.
  it.skipIf(!PINS.server)('gets no larger share of samples than its share of time', async () => {
    const file = join(createTemporaryFolder(), 'truth')
    const [recording] = await profileFixture('spin-and-read', [file], (process) => recordProcess(process, 2, ['cpu']))
    const truth = Number(readFileSync(file, 'utf8'))
    const functions = listHotFunctions(recording!.profile)
    const { total } = findFunction(functions, 'call')
    expect(total - truth, `${total} % for ${truth} %`).toBeLessThan(10)
    expect(findFunction(functions, 'spin').self).toBeGreaterThan(60)
  })
})

describe('a profiled process', () => {
  it('that exits before it is ready gives an error with the reason', async () => {
    await expect(startProfiled(getFixture('absent'), [])).rejects.toThrow('absent')
  })
})
