import './v8/held-tick.ts'
import { flushCompileCache } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'
import { createBus } from '../channel/channel.ts'
import { createLogger } from '../logging/logger.ts'
import { trimHeap } from './trim-heap.ts'
import type { ThreadReport, ThreadData, ThreadCommand } from '../channel/process-messages.ts'
import { serve, type ServingApp } from './serve.ts'
import { shareSinkWords } from '../logging/line-sink.ts'
import { getSecrets } from '../settings/secrets.ts'
import type { AnyService } from '../service.ts'
import { getThreadTask } from './watchdog.ts'

// Entry point of a serving thread. Builds the app, listens, reports that it is ready, and drains on request.

const BEAT_INTERVAL_MS = 100

const data = workerData as ThreadData
const port = parentPort!
const send = (message: ThreadReport) => port.postMessage(message)

const beat = setInterval(() => Atomics.add(data.heartbeats, data.index, 1), BEAT_INTERVAL_MS)
shareSinkWords(data.sinkWords)

const begin = Promise.withResolvers<ThreadCommand & { kind: 'begin' }>()
const listen = Promise.withResolvers<void>()
const starting = start()

async function start(): Promise<ServingApp> {
  const table = await import(data.services)
  const definition: AnyService = await table.services[data.name]()
  await definition.load?.()
  send({ kind: 'loaded' })
  const { shared, port: sharedPort, listener, certificate } = await begin.promise
  const secrets = getSecrets(definition, data.config)
  const log = createLogger(data.config.logLevel, { service: data.name, thread: data.index }, secrets)
  return serve({
    ...data,
    definition,
    shared,
    bus: createBus(data.bus),
    log,
    certificate,
    port: sharedPort,
    listener,
    onBeforeListen() {
      send({ kind: 'built' })
      return listen.promise
    },
  })
}

port.on('message', async (message: ThreadCommand) => {
  if (message.kind === 'begin') return begin.resolve(message)
  if (message.kind === 'listen') return listen.resolve()
  const serving = await starting
  send({ kind: 'drained', clean: await serving.stop(message.times) })
  clearInterval(beat)
  data.bus.close()
  port.close()
})
const { port: boundPort } = await starting
send({ kind: 'ready', port: boundPort, task: getThreadTask() })
flushCompileCache()
// Before the first request, because it blocks the thread.
trimHeap()
