import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { toPatientTimeout } from './packages/runtime/test/support/patience.ts'
import LongestFirst from './scripts/longest-first.ts'

const FOLDERS = '{packages/*,clients/*,bench,chaos,flame,deploy,scripts}/test/**'
/** The test files of a tier have this before `.test.ts`. Those of the tier `unit` have nothing. */
const SUFFIXES = ['process', 'slow', 'timed', 'day'] as const

/**
 * Time-outs (ms). They end tests that hang, and measure nothing: they are many times what the slowest test takes on a
 * quiet machine, because the load of a machine can change within a run. They grow with the load at the start.
 */
const TIMEOUTS_MS = { unit: 40_000, process: 60_000, slow: 120_000, timed: 120_000, day: 120_000 }

function defineTier(
  name: keyof typeof TIMEOUTS_MS,
  groupOrder: number,
  settings: TestProjectInlineConfiguration['test'],
): TestProjectInlineConfiguration {
  const timeout = toPatientTimeout(TIMEOUTS_MS[name])
  return {
    extends: true,
    test: {
      name,
      include: [`${FOLDERS}/*${name === 'unit' ? '' : `.${name}`}.test.ts`],
      exclude: name === 'unit' ? SUFFIXES.map((suffix) => `${FOLDERS}/*.${suffix}.test.ts`) : [],
      sequence: { groupOrder },
      testTimeout: timeout,
      hookTimeout: timeout,
      // Like `waitUntil`.
      expect: { poll: { timeout: timeout / 2, interval: 20 } },
      env: {
        // All threads and processes of tests share the compile cache of `pnpm start` (scripts/start.mjs).
        NODE_COMPILE_CACHE: fileURLToPath(new URL('node_modules/.cache/compile', import.meta.url)),
        // `waitUntil` fails before its test, and names the condition.
        TEST_WAIT_MS: String(TIMEOUTS_MS[name] / 2),
      },
      ...settings,
    },
  }
}

/** Services, threads and sockets wait for each other about as long as they compute. */
const WITH_PROCESSES = {
  maxWorkers: 2 * availableParallelism(),
  setupFiles: ['./scripts/skip-missing-programs.ts'],
}

// CONTRIBUTING.md describes the tiers.
export default defineConfig({
  test: {
    projects: [
      // No processes, no sockets, no waiting: `forbid-processes.ts` fails a test that needs them.
      defineTier('unit', 0, {
        maxWorkers: availableParallelism(),
        setupFiles: ['./scripts/forbid-processes.ts'],
        // Half of the processor time is that of processes and modules, which the test files of a worker share.
        isolate: false,
      }),
      // Services, processes, threads or sockets.
      defineTier('process', 1, WITH_PROCESSES),
      // Slow by design: clusters, kills, full disks, browsers, other programs, long random runs.
      defineTier('slow', 2, WITH_PROCESSES),
      // Compare real times or rates: one after the other, after all others.
      defineTier('timed', 3, { ...WITH_PROCESSES, fileParallelism: false }),
      // An agency's day with a moving clock, for `test:day`: its checker compares every second, so it needs a quiet machine.
      defineTier('day', 4, WITH_PROCESSES),
    ],
    pool: 'forks',
    // In addition to those of the tiers.
    setupFiles: [
      './packages/runtime/test/support/close-after-file.ts',
      './packages/runtime/test/support/property-seed.ts',
    ],
    // Node loads the code of tests like that of services, without a transform of Vitest.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    sequence: { sequencer: LongestFirst },
    // The concurrent tests of a file run in addition to those of other files.
    maxConcurrency: 2,
    reporters: ['default', './scripts/summary-reporter.ts'],
  },
})
