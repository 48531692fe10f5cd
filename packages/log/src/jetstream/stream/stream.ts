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
import { FORMAT_VERSION } from '../../order/frame.ts'
import type { JetStreamLogOptions } from '../options.ts'
import { RETRY_INTERVAL_MS } from './verify-stream.ts'
import { isNoResponders } from './no-responders.ts'
import { checkQuorum } from './quorum.ts'

export interface LogStreamOptions extends Pick<JetStreamLogOptions, 'service' | 'stream' | 'replicas' | 'storage'> {
  /** Maximum time until JetStream is ready (ms). */
  readonly timeout: number
}

/** Returns the subject to which nodes publish frames. */
export const toSubject = (stream: string) => `log.${stream}`
/** Returns the subject on which the servers republish stored frames. */
export const toLiveSubject = (stream: string) => `log.${stream}.live`

// Keys in the metadata of the stream: the service that owns the log, and the version of the format.
const SERVICE_METADATA_KEY = 'influencer-stats.service'
const FORMAT_METADATA_KEY = 'influencer-stats.format'

// Error codes of the server.
const STREAM_NOT_FOUND_CODE = 10_059
const NOT_ENABLED_CODES = new Set([10_039, 10_076])
const INSUFFICIENT_SERVERS_CODES = new Set([10_005, 10_074])

/**
 * Finds the stream, or creates it if there is none.
 * @throws StartError `JETSTREAM_OFF`, `LOG_REPLICAS`, `LOG_FOREIGN`, `LOG_FORMAT_UNKNOWN`, `LOG_UNREACHABLE`
 */
export async function openStream(
  nc: NatsConnection,
  options: LogStreamOptions,
): Promise<{ jsm: JetStreamManager; info: StreamInfo }> {
  const deadline = performance.now() + options.timeout
  for (;;) {
    try {
      const jsm = await jetstreamManager(nc, { checkAPI: false, timeout: 5_000 })
      const info = await findOrCreateStream(jsm, options)
      checkQuorum(info)
      checkFormat(info, options)
      return { jsm, info }
    } catch (error) {
      const explained = explainError(error, options)
      // Servers that have just started have no leader yet, and return the same error as servers without JetStream. So
      // this error ends the start only after the timeout.
      if (explained?.isFinal || performance.now() > deadline) throw explained?.error ?? explainTimeout(error, options)
      await delay(RETRY_INTERVAL_MS)
    }
  }
}

async function findOrCreateStream(
  jsm: JetStreamManager,
  { service, stream, replicas, storage }: LogStreamOptions,
): Promise<StreamInfo> {
  try {
    return await jsm.streams.info(stream)
  } catch (error) {
    if (!(error instanceof JetStreamApiError && error.code === STREAM_NOT_FOUND_CODE)) throw error
  }
  return jsm.streams.add({
    name: stream,
    subjects: [toSubject(stream)],
    num_replicas: replicas,
    storage: storage === 'memory' ? StorageType.Memory : StorageType.File,
    // A full stream rejects new frames, instead of removing old ones. Frames remain until they are trimmed.
    discard: 'new',
    deny_delete: true,
    allow_direct: true,
    // A frame that exceeds the maximum message size is sent as several messages. The server stores all of them or none.
    allow_atomic: true,
    republish: { src: toSubject(stream), dest: toLiveSubject(stream) },
    metadata: { [SERVICE_METADATA_KEY]: service, [FORMAT_METADATA_KEY]: String(FORMAT_VERSION) },
  })
}

/**
 * Checks that a stream is a log of this service, with a known format and the required configuration.
 * @throws StartError `LOG_FOREIGN`, `LOG_FORMAT_UNKNOWN`
 */
export function checkFormat(
  { config }: StreamInfo,
  { service, stream }: Pick<LogStreamOptions, 'service' | 'stream'>,
): void {
  const { [SERVICE_METADATA_KEY]: owner, [FORMAT_METADATA_KEY]: version } = config.metadata ?? {}
  if (owner !== service)
    throw new StartError(
      'LOG_FOREIGN',
      `${service}: stream ${stream} is ${owner ? `the log of ${owner}` : 'not the log of a service'}`,
    )
  if (version !== String(FORMAT_VERSION))
    throw new StartError(
      'LOG_FORMAT_UNKNOWN',
      `${service}: stream ${stream} has format ${version}; this version knows ${FORMAT_VERSION}`,
    )
  const isConfigured = config.allow_direct && config.allow_atomic && config.republish?.dest === toLiveSubject(stream)
  if (!isConfigured)
    throw new StartError('LOG_FOREIGN', `${service}: the configuration of stream ${stream} was changed`)
}

/**
 * Returns the error to report if the stream cannot be opened; undefined if the cause is not known.
 * `isFinal` is true if a retry cannot help.
 */
function explainError(
  error: unknown,
  { service, stream, replicas }: LogStreamOptions,
): { error: Error; isFinal: boolean } | undefined {
  if (error instanceof StartError) return { error, isFinal: true }
  if (isNoResponders(error) || (error instanceof JetStreamApiError && NOT_ENABLED_CODES.has(error.code)))
    return {
      error: new StartError('JETSTREAM_OFF', `${service}: JetStream is disabled on these NATS servers`),
      isFinal: false,
    }
  if (error instanceof JetStreamApiError && INSUFFICIENT_SERVERS_CODES.has(error.code)) {
    const message = `${service}: stream ${stream} requires ${replicas} servers (--nats-replicas), and fewer are available`
    return { error: new StartError('LOG_REPLICAS', message), isFinal: error.code === 10_074 }
  }
  return undefined
}

function explainTimeout(error: unknown, { service, stream }: LogStreamOptions): Error {
  const { message } = error as Error
  return new StartError('LOG_UNREACHABLE', `${service}: stream ${stream} cannot be opened (${message})`)
}
