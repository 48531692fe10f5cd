import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import LongestFirst from './scripts/longest-first.ts'

/** Tests that compare real times or rates, or a page with a moving clock. They run one after the other, after all others. */
const TIMED_TESTS = [
  'packages/dashboard/test/browser.test.ts',
  'packages/dashboard/test/day-browser.test.ts',
  'packages/runtime/test/server-abuse.test.ts',
  'bench/test/load.test.ts',
  'bench/test/rate.test.ts',
]

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'parallel',
          include: ['{packages/*,bench,chaos,flame,deploy,scripts}/test/**/*.test.ts'],
          exclude: TIMED_TESTS,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: 'timed', include: TIMED_TESTS, fileParallelism: false, sequence: { groupOrder: 1 } },
      },
    ],
    // Many tests start real processes. On two busy cores they may be slow, but must not fail.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: 'forks',
    // Node loads the code of tests like that of services, without a transform of Vitest.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    sequence: { sequencer: LongestFirst },
    // A file waits for processes, timers and drains about as long as it computes.
    maxWorkers: 2 * availableParallelism(),
    // The concurrent tests of a file run in addition to those of other files.
    maxConcurrency: 2,
    // All threads and processes of tests share the compile cache of `pnpm start` (scripts/start.mjs).
    env: {
      NODE_COMPILE_CACHE: fileURLToPath(new URL('node_modules/.cache/compile', import.meta.url)),
    },
    setupFiles: ['./scripts/skip-missing-programs.ts'],
    reporters: ['default', './scripts/summary-reporter.ts'],
  },
})
