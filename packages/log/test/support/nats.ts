import { findFreePort } from '@influencer-stats/runtime/testing/free-port'
import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { onFileFinished } from '@influencer-stats/runtime/testing/on-file-finished'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import {
  startNatsCluster,
  startNatsServer,
  type NatsServer,
  type NatsServerOptions,
} from '../../src/nats/start-server.ts'

/** Starts a server, which is stopped after the tests of the file. */
export async function startTestNatsServer(options: Partial<NatsServerOptions> = {}): Promise<NatsServer> {
  const server = await startNatsServer({
    folder: createTemporaryFolder(),
    ...options,
    port: options.port ?? (await findFreePort()),
  })
  onFileFinished(() => server.stop('SIGKILL'))
  return server
}

/** Starts a server, and connects a stream manager to it, until after the tests of the file. */
export async function connectTestNats(): Promise<{ readonly nc: NatsConnection; readonly jsm: JetStreamManager }> {
  const { url } = await startTestNatsServer()
  const nc = await connect({ servers: url })
  onFileFinished(() => nc.close())
  return { nc, jsm: await jetstreamManager(nc) }
}

/** Starts a cluster of three servers, which are stopped after the tests of the file. */
export async function startTestNatsCluster(): Promise<NatsServer[]> {
  const cluster = await startNatsCluster({ folder: createTemporaryFolder() })
  for (const server of cluster) onFileFinished(() => server.stop('SIGKILL'))
  return cluster
}

/** Deletes a stream, as after the loss of all its servers. */
export async function deleteStream(url: string, stream: string): Promise<void> {
  const nc = await connect({ servers: url })
  await (await jetstreamManager(nc)).streams.delete(stream)
  await nc.close()
}
