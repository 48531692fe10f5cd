import './held-tick.ts'
import { flushCompileCache } from 'node:module'
import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import { createChannel, type Bus, type Calls } from './channel.ts'
import { createLog } from './log.ts'
import type { FromThread, ThreadData, ToThread } from './messages.ts'
import { createThreadRegistry } from '../metrics/metrics.ts'
import { serve } from './serve.ts'

// The entry of a serving thread: build the app, listen, say so, drain when told.

const BEAT_EVERY = 100

const data = workerData as ThreadData
const port = parentPort!
const send = (message: FromThread) => port.postMessage(message)

const beat = setInterval(() => Atomics.add(data.heartbeats, data.index, 1), BEAT_EVERY)
const log = createLog(data.config.logLevel, { service: data.name, thread: data.index })
const registry = createThreadRegistry(data.index)
const scrapes = new Map<number, (text: string | undefined) => void>()
let lastScrape = 0

const listen = Promise.withResolvers<void>()
const table = await import(data.services)
const starting = serve({
  definition: await table.services[data.name](),
  config: data.config,
  shared: data.shared,
  bus: createBus(data.bus),
  log,
  registry,
  port: data.port,
  reusePort: data.reusePort,
  beforeListen() {
    send({ kind: 'built' })
    return listen.promise
  },
  scrape,
})

port.on('message', async (message: ToThread) => {
  if (message.kind === 'listen') return listen.resolve()
  if (message.kind === 'collect') {
    return send({ kind: 'collected', id: message.id, metrics: await registry.getMetricsAsJSON() })
  }
  if (message.kind === 'scraped') {
    scrapes.get(message.id)?.(message.text)
    return void scrapes.delete(message.id)
  }
  const serving = await starting
  send({ kind: 'drained', clean: await serving.stop(message.timeout) })
  clearInterval(beat)
  data.bus.close()
  port.close()
})
const { port: shared } = await starting
send({ kind: 'ready', port: shared })
flushCompileCache()

async function scrape(): Promise<string> {
  const id = ++lastScrape
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  scrapes.set(id, resolve)
  send({ kind: 'scrape', id })
  const text = await promise
  if (text === undefined) throw new Error('main could not collect the figures')
  return text
}

function createBus(line: MessagePort): Bus<Calls, Calls> {
  const handlers = new Map<string, (...args: any[]) => unknown>()
  const channel = createChannel(line, handlers)
  return {
    call: (name, ...args) => channel.call(name, ...args) as never,
    on: (name, handler) => void handlers.set(name, handler),
  }
}
