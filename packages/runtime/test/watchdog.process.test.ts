import { once } from 'node:events'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  createWatchdog,
  getMainTask,
  STARVED_TIMEOUT_FACTOR,
  readTaskProgress,
  getThreadTask,
} from '../src/worker/watchdog.ts'
import { startCounter } from './support/counter-service.ts'
import { waitUntil } from './support/wait-until.ts'

const TIMEOUT_MS = 5_000

afterEach(() => void vi.useRealTimers())

/** A watched thread with a simulated clock. */
function watchThread(task: string | undefined = 'a task') {
  vi.useFakeTimers()
  let ran = 0
  let isRunnable = true
  const onStuck = vi.fn<() => void>()
  const watchdog = createWatchdog(2, TIMEOUT_MS, () => ({ ran, isRunnable }))
  const watch = watchdog.watch(1, onStuck)
  return {
    onStuck,
    watch,
    task,
    beat: () => void Atomics.add(watchdog.heartbeats, 1, 1),
    /** No beat for `ms`. The thread waits for a processor for the share `waiting` of that time. */
    runSilently(ms: number, waiting = 0) {
      for (let passed = 0; passed < ms; passed += 100) {
        ran += (1 - waiting) * 100
        vi.advanceTimersByTime(100)
      }
    },
    sleep() {
      isRunnable = false
    },
  }
}

describe('a thread without a beat', () => {
  it.each([true, false])('is stuck after the timeout, once (works: %s; else it sleeps)', (works) => {
    const { onStuck, watch, task, beat, runSilently: silence, sleep } = watchThread()
    watch.markStarted(task)
    if (!works) sleep()
    silence(TIMEOUT_MS - 100)
    beat()
    silence(TIMEOUT_MS)
    expect(onStuck).not.toHaveBeenCalled()
    silence(1_000)
    expect(onStuck).toHaveBeenCalledOnce()
    silence(20 * TIMEOUT_MS)
    expect(onStuck).toHaveBeenCalledOnce()
  })

  it.each([0.5, 0.8])('is not stuck while other threads use the processors for %f of the time', (waiting) => {
    const { onStuck, watch, task, beat, runSilently: silence } = watchThread()
    watch.markStarted(task)
    // A turn that needs four fifths of the timeout, however long the machine takes for it.
    for (let turn = 0; turn < 3; turn++) {
      silence((0.8 * TIMEOUT_MS) / (1 - waiting), waiting)
      beat()
      silence(1_000)
    }
    expect(onStuck).not.toHaveBeenCalled()
    silence(TIMEOUT_MS / (1 - waiting) + 1_000, waiting)
    expect(onStuck).toHaveBeenCalledOnce()
  })

  it('is stuck after a longer time if it gets no processor at all', () => {
    const { onStuck, watch, task, runSilently: silence } = watchThread()
    watch.markStarted(task)
    silence(STARVED_TIMEOUT_FACTOR * TIMEOUT_MS - 1_000, 1)
    expect(onStuck).not.toHaveBeenCalled()
    silence(1_000, 1)
    expect(onStuck).toHaveBeenCalledOnce()
  })

  it('is stuck by time alone if the system does not report its waits', () => {
    const { onStuck, watch, runSilently: silence } = watchThread()
    watch.markStarted()
    silence(TIMEOUT_MS, 1)
    expect(onStuck).toHaveBeenCalledOnce()
  })

  it('has 30 s to start, and is ignored after its end', () => {
    const { onStuck, watch, runSilently: silence } = watchThread()
    silence(29_000)
    expect(onStuck).not.toHaveBeenCalled()
    watch.end()
    silence(60_000)
    expect(onStuck).not.toHaveBeenCalled()
  })
})

/** Uses all processors with other threads until the test ends. */
async function starveThread(): Promise<void> {
  const others = Array.from({ length: 2 * availableParallelism() }, () => new Worker('for (;;);', { eval: true }))
  onTestFinished(async () => void (await Promise.all(others.map((one) => one.terminate()))))
  await Promise.all(others.map((one) => once(one, 'online')))
}

describe.runIf(process.platform === 'linux')('on a busy machine', () => {
  it('measures the processor time of a thread', async () => {
    await starveThread()
    const before = readTaskProgress(getThreadTask()!)!
    const began = performance.now()
    while (performance.now() - began < 500);
    const after = readTaskProgress(getThreadTask()!)!
    expect(after.isRunnable).toBe(true)
    expect(after.ran).toBeGreaterThan(before.ran)
    expect(after.ran - before.ran).toBeLessThan(0.9 * (performance.now() - began))
    expect(readTaskProgress(getMainTask(process.pid))?.ran).toBeGreaterThan(0)
    expect(readTaskProgress('0/task/0')).toBeUndefined()
  })

  it('recognizes a thread that sleeps', async () => {
    const sleeper = new Worker(
      `const { parentPort } = require('node:worker_threads')
      parentPort.postMessage(require('node:fs').readlinkSync('/proc/thread-self'))
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)`,
      { eval: true },
    )
    onTestFinished(async () => void (await sleeper.terminate()))
    const [task] = (await once(sleeper, 'message')) as [string]
    await waitUntil(() => readTaskProgress(task)?.isRunnable === false)
  })

  it('a serving thread may take longer for a turn than the timeout between beats', async () => {
    const read = fs.readFileSync
    // The report of the system for a thread that never gets a processor.
    const spied = vi
      .spyOn(fs, 'readFileSync')
      .mockImplementation(((path: string, ...rest: []) =>
        /^\/proc\/\d+\/task\/\d+\/schedstat$/.test(path) ? '0 0 0' : read(path, ...rest)) as never)
    syncBuiltinESMExports()
    onTestFinished(() => {
      spied.mockRestore()
      syncBuiltinESMExports()
    })
    const { request } = await startCounter({ threads: 1, watchdogTimeout: 1_000 })
    expect((await request('GET', '/block?ms=2000')).status).toBe(200)
  })
})
