import { startTestNatsServer } from '@influencer-stats/log/testing/nats'
import type { NatsServer } from '@influencer-stats/log/nats-server'
import type { Overrides } from '@influencer-stats/runtime/embed'
import { beforeAll, onTestFinished } from 'vitest'
import { startKv, type TestKv } from './kv.ts'

/** Returns the settings of a node on a stream of a NATS server. */
type StartNode = (natsStream: string) => Overrides & { readonly cluster: string }

/** Starts a NATS server for a test file. @returns a function for the settings of a node on one of its streams */
export function useNats(): StartNode {
  let server: NatsServer
  beforeAll(async () => {
    server = await startTestNatsServer()
  })
  return (natsStream) => ({ cluster: server.url, natsReplicas: 1, natsStream })
}

/** Starts a kv service that stops when the test ends. */
export async function start(settings: Overrides = {}): Promise<TestKv> {
  const kv = await startKv(settings)
  onTestFinished(async () => void (await kv.stop()))
  return kv
}
