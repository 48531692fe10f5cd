import { createInterface } from 'node:readline'
import { BroadcastChannel } from 'node:worker_threads'
import { CHANNEL, REPORT, type Order, type Progress, type Report, type Said, type Window } from './messages.ts'

/** Tells whoever started this process something. Not on stdout, which is the log's. */
export function report(message: Report): void {
  process.stderr.write(`${REPORT}${JSON.stringify(message)}\n`)
}

/** Has every thread profile itself; resolves with their names when all profiles are written. */
async function profile(window: Window): Promise<string[]> {
  const channel = new BroadcastChannel(CHANNEL)
  const states = new Map<string, Progress['state']>()
  const finished = Promise.withResolvers<void>()
  channel.addEventListener('message', (event) => {
    const message = (event as Said).data
    if ('order' in message) return
    states.set(message.thread, message.state)
    if ([...states.values()].every((state) => state !== 'begun')) finished.resolve()
  })
  channel.postMessage({ order: window } satisfies Order)
  await finished.promise
  channel.close()
  return [...states].filter(([, state]) => state === 'written').map(([thread]) => thread)
}

/**
 * The main thread's side of being profiled: takes windows, a line of JSON each, from stdin, and calls `stop` when stdin
 * ends. So a process whose starter is gone stops, too.
 */
export function obey(stop: () => Promise<unknown>): void {
  const lines = createInterface({ input: process.stdin })
  lines.on('line', async (line) => report({ kind: 'profiled', threads: await profile(JSON.parse(line)) }))
  lines.on('close', stop)
}
