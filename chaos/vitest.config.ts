import { defineConfig } from 'vitest/config'
import { isLong } from './src/plan.ts'

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['chaos/scenarios/*.chaos.ts', ...(isLong ? ['chaos/test/kills.slow.test.ts'] : [])],
    pool: 'forks',
    // Sequential: parallel tests would disturb measurements.
    fileParallelism: false,
    testTimeout: 7_200_000,
    hookTimeout: 60_000,
    reporters: ['verbose', './scripts/summary-reporter.ts'],
  },
})
