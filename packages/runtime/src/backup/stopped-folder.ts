import { join } from 'node:path'
import { StartError } from '../errors/common-errors.ts'
import { hasLevelData } from '../level/files/level-files.ts'

/** Folder of a stopped service. */
export interface StoppedFolder {
  readonly folder: string
  /** True for a node of a cluster. */
  readonly isReplica: boolean
}

/** Log of a database that a command opens. */
export const SILENT_LOG = { info() {}, warn() {}, error() {} }

/**
 * Finds the database of a stopped service in its data folder, or in the folder of all services. A node of a cluster has
 * it in the folder `view`.
 * @throws StartError `NO_DATA`, `DATA_AMBIGUOUS`
 */
export function findStoppedFolder(service: string, from: string): StoppedFolder {
  const candidates = [from, join(from, service)].flatMap((folder) => [
    { folder, isReplica: false },
    { folder: join(folder, 'view'), isReplica: true },
  ])
  const found = candidates.filter(({ folder }) => hasLevelData(folder))
  const [first] = found
  if (!first) throw new StartError('NO_DATA', `${service}: ${from} has no data of this service`)
  if (found.length > 1) {
    const folders = found.map(({ folder }) => folder).join(' and ')
    throw new StartError('DATA_AMBIGUOUS', `${service}: ${folders} have data: name one of them`)
  }
  // The folder of the node itself was named.
  return { ...first, isReplica: first.isReplica || /(^|[/\\])view[/\\]?$/.test(first.folder) }
}
