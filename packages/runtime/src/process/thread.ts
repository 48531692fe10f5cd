import './held-tick.ts'
import { flushCompileCache } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'
import { createBus } from './channel.ts'
import { createLog } from './log.ts'
import { giveBack } from './give-back.ts'
import type { FromThread, ThreadData, ToThread } from './messages.ts'
import { serve, type Serving } from './serve.ts'
import { shareSinkWords } from './sink.ts'
import { secretsOf } from '../settings/secrets.ts'
import type { AnyService } from '../service.ts'
import { thisTask } from './watchdog.ts'

// The entry of a serving thread: build the app, listen, say so, drain when told.

const BEAT_EVERY = 100

const data = workerData as ThreadData
const port = parentPort!
const send = (message: FromThread) => port.postMessage(message)

const beat = setInterval(() => Atomics.add(data.heartbeats, data.index, 1), BEAT_EVERY)
shareSinkWords(data.sinkWords)

const begin = Promise.withResolvers<ToThread & { kind: 'begin' }>()
const listen = Promise.withResolvers<void>()
const starting = start()

async function start(): Promise<Serving> {
  const table = await import(data.services)
  const definition: AnyService = await table.services[data.name]()
  await definition.load?.()
  const { shared, port: listenAt, certificate } = await begin.promise
  const secrets = secretsOf(definition, data.config)
  const log = createLog(data.config.logLevel, { service: data.name, thread: data.index }, secrets)
  return serve({
    definition,
    config: data.config,
    shared,
    bus: createBus(data.bus),
    log,
    budgetMemory: data.budget,
    limits: data.limits,
    certificate,
    index: data.index,
    port: listenAt,
    reusePort: data.reusePort,
    beforeListen() {
      send({ kind: 'built' })
      return listen.promise
    },
  })
}

port.on('message', async (message: ToThread) => {
  if (message.kind === 'begin') return begin.resolve(message)
  if (message.kind === 'listen') return listen.resolve()
  const serving = await starting
  send({ kind: 'drained', clean: await serving.stop(message.timeout) })
  clearInterval(beat)
  data.bus.close()
  port.close()
})
const { port: listensAt } = await starting
send({ kind: 'ready', port: listensAt, task: thisTask() })
flushCompileCache()
// Before anybody asks.
giveBack()
