import { startNatsServer, type NatsServer } from '@influencer-stats/log/nats-server'
import type { Overrides } from '@influencer-stats/runtime/embed'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { startKv, type TestKv } from './kv.ts'

/** The settings of a node on a stream of a server of NATS. */
type StartNode = (natsStream: string) => Overrides & { readonly natsUrl: string }

/** A server of NATS for a file of tests. @returns the settings of a node on a stream there */
export function useNats(): StartNode {
  let server: NatsServer
  beforeAll(async () => {
    server = await startNatsServer({ folder: createTemporaryFolder() })
  })
  afterAll(() => server?.stop('SIGKILL'))
  return (natsStream) => ({ log: 'jetstream', natsUrl: server.url, natsReplicas: 1, natsStream })
}

/** A key-value service that is stopped when the test ends. */
export async function start(settings: Overrides = {}): Promise<TestKv> {
  const kv = await startKv(settings)
  onTestFinished(async () => void (await kv.stop()))
  return kv
}
