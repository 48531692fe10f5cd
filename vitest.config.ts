import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['{packages/*,bench,chaos,flame}/test/**/*.test.ts'],
    // Many tests start real processes; two busy cores can make that slow, never wrong.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    reporters: ['default', './scripts/summary-reporter.ts'],
  },
})
