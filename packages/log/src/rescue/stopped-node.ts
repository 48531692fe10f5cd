import { StartError } from '@influencer-stats/runtime/errors'
import { findStoppedFolder } from '@influencer-stats/runtime/stopped-folder'
import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import { toAncestor } from '../jetstream/stream/stream.ts'
import type { LogPosition } from '../log.ts'
import { isTorn } from '../state-machine/boot-check.ts'
import type { PositionRow, SnapshotCodec } from '../state-machine/level-state-machine.ts'
import { createStandaloneError, type RescueSource } from './rescue-source.ts'

/**
 * Finds the database of a stopped node in its data folder, or in the folder of all services.
 * @throws StartError `NO_DATA`, `DATA_AMBIGUOUS`, `NODE_STANDALONE`
 */
export function findStoppedNode(service: string, from: string): string {
  const { folder, isReplica } = findStoppedFolder(service, from)
  if (isReplica) return folder
  throw createStandaloneError(service, folder)
}

/** Database of a node that does not run. */
export interface StoppedNode {
  readonly service: string
  readonly folder: string
  readonly level: SharedLevel<any, any>
  readonly positionKey: Buffer | string
  readonly snapshots: Pick<SnapshotCodec, 'write'>
  /** Parses the position row. By default it is JSON. */
  parseRow?(text: string): PositionRow
}

/**
 * Reads the position of a stopped node. Closes its database if it fails.
 * @throws StartError `NO_STATE`, `DATA_TORN`, `DATA_INCOMPLETE`
 */
export async function openStoppedNode(node: StoppedNode): Promise<RescueSource & { close(): Promise<void> }> {
  const { level, folder, snapshots } = node
  try {
    const position = toAncestor(await readPosition(node))
    const close = () => level.close()
    const prepared = { position, read: () => snapshots.write(), close }
    return { name: folder, position, prepare: async () => prepared, close }
  } catch (error) {
    await level.close()
    throw error
  }
}

async function readPosition({
  service,
  folder,
  level,
  positionKey,
  parseRow = JSON.parse,
}: StoppedNode): Promise<LogPosition> {
  const text: string | undefined = await level.db.get(positionKey, { valueEncoding: 'utf8' })
  const row: PositionRow | undefined = text === undefined ? undefined : parseRow(text)
  const { position, boot } = row ?? {}
  if (!position) throw new StartError('NO_STATE', `${folder} has no position in a log`)
  const remedy = `use another node, or \`pnpm ${service} export FILE --from ${folder}\``
  if (isTorn(boot))
    throw new StartError(
      'DATA_TORN',
      `${folder} may have lost writes, because its machine restarted while the node ran: ${remedy}`,
    )
  if (position.partialSeq !== undefined)
    throw new StartError('DATA_INCOMPLETE', `${folder} has a part of the changes after its position: ${remedy}`)
  return position
}
