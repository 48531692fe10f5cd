import { BackupDamagedError, readHead, type BackupHead } from '@influencer-stats/runtime/backup-format'
import { StartError } from '@influencer-stats/runtime/errors'
import { saveBackup } from '@influencer-stats/runtime/save-backup'
import { createRequester, readChunks } from '@influencer-stats/runtime/service-client'
import type { ServiceError } from '@influencer-stats/runtime/service-error'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { checkHead, openBackupFile } from './backup-source-file.ts'
import type { RescueSource } from './rescue-source.ts'

/** Time for which a node may be unreachable (ms): it may restart itself to load a snapshot. */
const UNREACHABLE_TIMEOUT_MS = 20_000
const RETRY_INTERVAL_MS = 500
const RETRY_CODES = new Set(['TOO_MANY_BACKUPS', 'OVERLOADED', 'NOT_READY', 'RATE_LIMITED'])

/** Readiness of a node for writes. */
export interface NodeWrites {
  readonly ready: boolean
  readonly code?: string
  readonly detail?: string
}

/** Node that runs. */
export interface RunningNode {
  readonly service: string
  readonly url: string
  readonly token: string
}

/**
 * Reads the position of a running node. Resolves with undefined if the node has no state.
 * @throws StartError `NODE_UNREACHABLE`, `NODE_STANDALONE`, `BACKUP_FOREIGN`, or the code with which the node refuses
 */
export async function openRunningNode(node: RunningNode): Promise<RescueSource | undefined> {
  const { service, url } = node
  const head = await readNodeHead(node)
  if (!head) return undefined
  const { position } = checkHead(service, url, head)
  const writes = await readWrites(node)
  return {
    name: url,
    position,
    writeFault: writes?.ready === false ? writes.code : undefined,
    async prepare(folder) {
      const file = join(folder, `${service}.backup`)
      await retryWhileUnreachable(node, () => saveBackup(url, node.token, file))
      const saved = await openBackupFile(service, file)
      return saved.prepare(folder)
    },
  }
}

/** Reads the first line of the backup of a node; undefined if it has no state. */
const readNodeHead = (node: RunningNode): Promise<BackupHead | undefined> =>
  retryWhileUnreachable(node, async () => {
    const request = createRequester(node.url, { token: node.token })
    try {
      return await readHead(toBuffers(readChunks(await request('GET', '/backup'))))
    } catch (error) {
      // A node refuses all requests until it has read its log once.
      if (['NO_DATA', 'LOG_UNAVAILABLE'].includes((error as ServiceError).code)) return undefined
      throw error
    }
  })

async function* toBuffers(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const { buffer, byteOffset, byteLength } of chunks) yield Buffer.from(buffer, byteOffset, byteLength)
}

/** Reads if a node takes writes. Resolves with undefined if it does not respond. */
export async function readWrites({ url }: Pick<RunningNode, 'url'>): Promise<NodeWrites | undefined> {
  try {
    const reply = await fetch(`${url.replace(/\/+$/, '')}/readyz`)
    const body = (await reply.json()) as { writes?: NodeWrites; detail?: string; code?: string }
    return body.writes ?? { ready: false, code: body.code ?? 'NOT_READY', detail: body.detail ?? '' }
  } catch {
    return undefined
  }
}

async function retryWhileUnreachable<T>({ url, service }: RunningNode, run: () => Promise<T>): Promise<T> {
  for (const deadline = performance.now() + UNREACHABLE_TIMEOUT_MS; ; await delay(RETRY_INTERVAL_MS)) {
    try {
      return await run()
    } catch (error) {
      if (error instanceof StartError) throw error
      if (error instanceof BackupDamagedError) throw new StartError('BACKUP_DAMAGED', `${url}: ${error.message}`)
      const { code, message, cause, status } = error as ServiceError & { cause?: Error }
      const isTransient = status === undefined || RETRY_CODES.has(code)
      if (isTransient && performance.now() < deadline) continue
      const reason = cause instanceof Error ? cause.message || (cause as { code?: string }).code : message
      if (status !== undefined) throw new StartError(code, `${url} refuses to send its state: ${message}`)
      throw new StartError(
        'NODE_UNREACHABLE',
        `${url} does not respond (${reason}): start ${service} there, or leave it out to continue without it`,
      )
    }
  }
}
