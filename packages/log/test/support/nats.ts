import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { afterFile } from '@influencer-stats/runtime/testing/after-file'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { startNatsCluster, startNatsServer, type NatsServer, type ServerOptions } from '../../src/nats/start-server.ts'

/** A server that is gone after the tests of the file. */
export async function natsServer(options: Partial<ServerOptions> = {}): Promise<NatsServer> {
  const server = await startNatsServer({ folder: temporaryFolder(), ...options })
  afterFile(() => server.stop('SIGKILL'))
  return server
}

/** A server, as who manages its streams sees it, until after the tests of the file. */
export async function natsManaged(): Promise<{ readonly nc: NatsConnection; readonly jsm: JetStreamManager }> {
  const { url } = await natsServer()
  const nc = await connect({ servers: url })
  afterFile(() => nc.close())
  return { nc, jsm: await jetstreamManager(nc) }
}

/** Three that are one cluster, until after the tests of the file. */
export async function natsCluster(): Promise<NatsServer[]> {
  const cluster = await startNatsCluster({ folder: temporaryFolder() })
  for (const server of cluster) afterFile(() => server.stop('SIGKILL'))
  return cluster
}
