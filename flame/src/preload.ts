import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { BroadcastChannel, threadName } from 'node:worker_threads'
import { CHANNEL, type Progress, type Said, type Window } from './messages.ts'

// Loaded with `--require` into every thread of a process that is profiled (workers inherit it). It does nothing until it
// is told to, on its own thread's inspector.

const thread = threadName || 'main'
const channel = new BroadcastChannel(CHANNEL)
channel.unref()

const say = (state: Progress['state']) => channel.postMessage({ thread, state } satisfies Progress)

// Both flags: without them only what is still alive at the end is counted, a leak profile rather than an allocation one.
const everything = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true }

async function record({ kind, milliseconds, interval, folder }: Window): Promise<void> {
  const { Session } = await import('node:inspector/promises')
  const session = new Session()
  session.connect()
  if (kind === 'cpu') {
    await session.post('Profiler.enable')
    await session.post('Profiler.setSamplingInterval', { interval })
    await session.post('Profiler.start')
  } else await session.post('HeapProfiler.startSampling', { samplingInterval: interval, ...everything })
  say('begun')
  await delay(milliseconds)
  const { profile } = await (kind === 'cpu' ? session.post('Profiler.stop') : session.post('HeapProfiler.stopSampling'))
  session.disconnect()
  await writeFile(join(folder, `${kind}-${thread}.json`), JSON.stringify(profile))
}

channel.addEventListener('message', (event) => {
  const message = (event as Said).data
  if (!('order' in message)) return
  record(message.order).then(
    () => say('written'),
    (error: Error) => {
      process.stderr.write(`${thread}: ${error.stack}\n`)
      say('failed')
    },
  )
})
