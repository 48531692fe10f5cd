import type { Page } from 'playwright-core'

interface TraceEvent {
  readonly name: string
  readonly ph: string
  readonly pid: number
  readonly tid: number
  /** Processor time (us). */
  readonly tdur?: number
  readonly args: { readonly name?: string }
}

/**
 * Runs a step, and returns the processor time of the longest task of the page's main thread during it (ms). Unlike the
 * duration of a frame, it does not depend on the other programs of the machine.
 */
export async function measureLongestTask(page: Page, step: () => Promise<unknown>): Promise<number> {
  const browser = page.context().browser()!
  await browser.startTracing(page, { categories: ['toplevel'] })
  await step()
  const { traceEvents }: { traceEvents: TraceEvent[] } = JSON.parse((await browser.stopTracing()).toString())
  const toThread = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`
  const isMain = ({ name, args }: TraceEvent) => name === 'thread_name' && args.name === 'CrRendererMain'
  const threads = new Set(traceEvents.filter(isMain).map(toThread))
  const times = traceEvents.flatMap((event) =>
    event.ph === 'X' && event.tdur !== undefined && threads.has(toThread(event)) ? event.tdur / 1_000 : [],
  )
  if (times.length === 0) throw new Error('the trace has no task of the main thread')
  return Math.max(...times)
}
