import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import { parentPort, workerData } from 'node:worker_threads'

// A thread that sleeps until a call is due, and then sends a message. It replaces a timer of Node, which fires up to
// 1.1 ms late, and polling of the clock, which would take processor time from the measured server.

/** Times of `total` messages: `start + i * gap` (ms of `steadyNow`). */
export interface TimerPlan {
  readonly total: number
  readonly gap: number
  readonly start: number
}

function postTicks({ total, gap, start }: TimerPlan): void {
  const cell = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  for (let i = 0; i < total; i++) {
    const wait = start + i * gap - steadyNow()
    if (wait > 0) Atomics.wait(cell, 0, 0, wait)
    parentPort!.postMessage(i)
  }
}

if (workerData) postTicks(workerData as TimerPlan)
