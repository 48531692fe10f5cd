import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['{packages/*,bench,chaos,flame}/test/**/*.test.ts'],
    // Many tests start real processes; two busy cores can make that slow, never wrong.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    pool: 'forks',
    // Processes that start, timers and drains: a file waits about as long as it works.
    maxWorkers: 2 * availableParallelism(),
    // Tests of a file that run beside one another do so beside those of other files, too.
    maxConcurrency: 2,
    // For all threads and processes that tests start, too: where services start what they start (packages/runtime/src/process/child.ts).
    env: {
      NODE_COMPILE_CACHE: fileURLToPath(new URL('packages/runtime/node_modules/.cache/compile', import.meta.url)),
    },
    reporters: ['default', './scripts/summary-reporter.ts'],
  },
})
