import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import LongestFirst from './scripts/longest-first.ts'

export default defineConfig({
  test: {
    include: ['{packages/*,bench,chaos,flame,deploy,scripts}/test/**/*.test.ts'],
    // Many tests start real processes; two busy cores can make that slow, never wrong.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: 'forks',
    // Node runs the code of tests as it runs that of services.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    sequence: { sequencer: LongestFirst },
    // Processes that start, timers and drains: a file waits about as long as it works.
    maxWorkers: 2 * availableParallelism(),
    // Tests of a file that run beside one another do so beside those of other files, too.
    maxConcurrency: 2,
    // For all threads and processes that tests start, too: where services start what they start (scripts/start.mjs).
    env: {
      NODE_COMPILE_CACHE: fileURLToPath(new URL('node_modules/.cache/compile', import.meta.url)),
    },
    setupFiles: ['./scripts/skip-missing-programs.ts'],
    reporters: ['default', './scripts/summary-reporter.ts'],
  },
})
