import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { StartError } from '../../errors/common-errors.ts'

/** Part of the name of the copies that a repair makes next to a folder. Copies do not count as data folders. */
export const COPY_MARK = '.before-repair-'

/** A folder of one service: it has `format.json` or `level`. */
export interface DataFolder {
  readonly service: string
  readonly folder: string
}

const isDataFolder = (folder: string): boolean =>
  existsSync(join(folder, 'format.json')) || existsSync(join(folder, 'level'))

/**
 * Lists a data folder and its subfolder `view`, in which a cluster node stores its data. Omits folders without data.
 */
const listWithView = (folder: string): string[] => [folder, join(folder, 'view')].filter(isDataFolder)

/**
 * Finds the data folders in a folder. It is the folder of one service, or contains the folders of several services.
 * @param services names to select; if empty, all services
 * @throws StartError `NO_DATA`
 */
export function findDataFolders(root: string, services: readonly string[]): DataFolder[] {
  const folder = resolve(root)
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new StartError('NO_DATA', `folder ${folder} does not exist`)
  const own = listWithView(folder)
  const children = () =>
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.includes(COPY_MARK))
      .flatMap(({ name }) => listWithView(join(folder, name)))
  const found = (own.length > 0 ? own : children()).map((one) => ({ service: readServiceName(one), folder: one }))
  const selected = services.length > 0 ? found.filter(({ service }) => services.includes(service)) : found
  if (selected.length === 0) throw new StartError('NO_DATA', `${folder} contains no data folder`)
  return selected
}

/** Reads the name from `format.json`, or from the name of the folder if that file is damaged. */
function readServiceName(folder: string): string {
  try {
    const { service } = JSON.parse(readFileSync(join(folder, 'format.json'), 'utf8'))
    if (typeof service === 'string') return service
  } catch {
    // `checkData` reports the damage.
  }
  return basename(basename(folder) === 'view' ? resolve(folder, '..') : folder)
}
