import './held-tick.ts'
import { flushCompileCache } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'
import { createBus } from './channel.ts'
import { createLog } from './log.ts'
import { giveBack } from './give-back.ts'
import type { FromThread, ThreadData, ToThread } from './messages.ts'
import { serve } from './serve.ts'
import { shareSinkWords } from './sink.ts'
import { secretsOf } from '../settings/secrets.ts'
import { thisTask } from './watchdog.ts'

// The entry of a serving thread: build the app, listen, say so, drain when told.

const BEAT_EVERY = 100

const data = workerData as ThreadData
const port = parentPort!
const send = (message: FromThread) => port.postMessage(message)

const beat = setInterval(() => Atomics.add(data.heartbeats, data.index, 1), BEAT_EVERY)
shareSinkWords(data.sinkWords)

const listen = Promise.withResolvers<void>()
const table = await import(data.services)
const definition = await table.services[data.name]()
const secrets = secretsOf(definition, data.config)
const log = createLog(data.config.logLevel, { service: data.name, thread: data.index }, secrets)
const starting = serve({
  definition,
  config: data.config,
  shared: data.shared,
  bus: createBus(data.bus),
  log,
  budgetMemory: data.budget,
  limits: data.limits,
  certificate: data.certificate,
  index: data.index,
  port: data.port,
  reusePort: data.reusePort,
  beforeListen() {
    send({ kind: 'built' })
    return listen.promise
  },
})

port.on('message', async (message: ToThread) => {
  if (message.kind === 'listen') return listen.resolve()
  const serving = await starting
  send({ kind: 'drained', clean: await serving.stop(message.timeout) })
  clearInterval(beat)
  data.bus.close()
  port.close()
})
const { port: shared } = await starting
send({ kind: 'ready', port: shared, task: thisTask() })
flushCompileCache()
// Before anybody asks.
giveBack()
