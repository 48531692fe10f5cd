import { StartError } from '@influencer-stats/runtime/errors'
import {
  JetStreamApiError,
  jetstreamManager,
  StorageType,
  type JetStreamManager,
  type StreamInfo,
} from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { setTimeout as delay } from 'node:timers/promises'
import { FORMAT } from '../order/frame.ts'
import { RETRY_EVERY } from './check.ts'
import { hadNobody } from './nobody.ts'
import { checkQuorum } from './quorum.ts'

export interface StreamOptions {
  readonly service: string
  readonly stream: string
  readonly replicas: number
  readonly storage?: 'file' | 'memory' | undefined
  /** How long JetStream may take to be ready (ms). */
  readonly timeout: number
}

/** The log's subjects: where frames are sent, and where the servers tell of those that they keep. */
export const subjectOf = (stream: string) => `log.${stream}`
export const liveSubjectOf = (stream: string) => `log.${stream}.live`

// In the stream's metadata: whose log it is, and in which format.
const SERVICE = 'influencer-stats.service'
const VERSION = 'influencer-stats.format'

// The server's codes.
const STREAM_NOT_FOUND = 10_059
const NOT_ENABLED = new Set([10_039, 10_076])
const TOO_FEW_SERVERS = new Set([10_005, 10_074])

/** Finds the stream, or makes it where there is none. @throws StartError */
export async function openStream(
  nc: NatsConnection,
  options: StreamOptions,
): Promise<{ jsm: JetStreamManager; info: StreamInfo }> {
  const deadline = performance.now() + options.timeout
  for (;;) {
    try {
      const jsm = await jetstreamManager(nc, { checkAPI: false, timeout: 5_000 })
      const info = await findOrMake(jsm, options)
      checkQuorum(info)
      checkFormat(info, options)
      return { jsm, info }
    } catch (error) {
      const known = explain(error, options)
      // Servers that have just started have no leader yet, and say the same as those without JetStream.
      if (known?.isFinal || performance.now() > deadline) throw known?.error ?? explainTimeout(error, options)
      await delay(RETRY_EVERY)
    }
  }
}

async function findOrMake(
  jsm: JetStreamManager,
  { service, stream, replicas, storage }: StreamOptions,
): Promise<StreamInfo> {
  try {
    return await jsm.streams.info(stream)
  } catch (error) {
    if (!(error instanceof JetStreamApiError && error.code === STREAM_NOT_FOUND)) throw error
  }
  return jsm.streams.add({
    name: stream,
    subjects: [subjectOf(stream)],
    num_replicas: replicas,
    storage: storage === 'memory' ? StorageType.Memory : StorageType.File,
    // What was told stays until it is trimmed; nothing is thrown away to make room.
    discard: 'new',
    deny_delete: true,
    allow_direct: true,
    // Frames that are larger than a message are several, which are stored all or not at all.
    allow_atomic: true,
    republish: { src: subjectOf(stream), dest: liveSubjectOf(stream) },
    metadata: { [SERVICE]: service, [VERSION]: String(FORMAT) },
  })
}

/** @throws StartError `LOG_FOREIGN`, `LOG_FORMAT_UNKNOWN` */
export function checkFormat(
  { config }: StreamInfo,
  { service, stream }: Pick<StreamOptions, 'service' | 'stream'>,
): void {
  const { [SERVICE]: owner, [VERSION]: version } = config.metadata ?? {}
  if (owner !== service)
    throw new StartError(
      'LOG_FOREIGN',
      `${service}: stream ${stream} is ${owner ? `the log of ${owner}` : 'no log of a service'}`,
    )
  if (version !== String(FORMAT))
    throw new StartError(
      'LOG_FORMAT_UNKNOWN',
      `${service}: stream ${stream} has format ${version}; this version knows ${FORMAT}`,
    )
  const isWhole = config.allow_direct && config.allow_atomic && config.republish?.dest === liveSubjectOf(stream)
  if (!isWhole) throw new StartError('LOG_FOREIGN', `${service}: the configuration of stream ${stream} was changed`)
}

function explain(
  error: unknown,
  { service, stream, replicas }: StreamOptions,
): { error: Error; isFinal: boolean } | undefined {
  if (error instanceof StartError) return { error, isFinal: true }
  if (hadNobody(error) || (error instanceof JetStreamApiError && NOT_ENABLED.has(error.code)))
    return {
      error: new StartError('JETSTREAM_OFF', `${service}: JetStream is off on these servers of NATS`),
      isFinal: false,
    }
  if (error instanceof JetStreamApiError && TOO_FEW_SERVERS.has(error.code)) {
    const line = `${service}: stream ${stream} is to be kept on ${replicas} servers (natsReplicas), and there are fewer`
    return { error: new StartError('LOG_REPLICAS', line), isFinal: error.code === 10_074 }
  }
  return undefined
}

function explainTimeout(error: unknown, { service, stream }: StreamOptions): Error {
  const { message } = error as Error
  return new StartError('LOG_UNREACHABLE', `${service}: stream ${stream} cannot be opened (${message})`)
}
