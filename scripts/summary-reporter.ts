import type { Reporter, TestModule } from 'vitest/node'

/** Ends a run with one plain line that programs can read: `N passed, N failed`. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const states = modules.flatMap((module) => [...module.children.allTests()].map((test) => test.result().state))
    // A file that failed to load, and an uncaught error, are failures without a test.
    const unloaded = modules.filter((module) => module.errors().length > 0).length
    const passed = states.filter((state) => state === 'passed').length
    const failed = states.filter((state) => state === 'failed' || state === 'pending').length
    const skipped = states.filter((state) => state === 'skipped').length
    const note = skipped > 0 ? `, ${skipped} skipped` : ''
    process.stdout.write(`\n${passed} passed, ${failed + unloaded + unhandledErrors.length} failed${note}\n`)
  }
}
