import { ClassicLevel, type DatabaseOptions } from 'classic-level'
import { accessSync, constants, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { StartError } from './http/errors.ts'

export interface LevelOptions<K = string, V = string> extends DatabaseOptions<K, V> {
  /** Whose data it is, and in which version of its layout. */
  readonly service: string
  readonly format: number
}

const FORMAT_FILE = 'format.json'

/**
 * Opens LevelDB in `<folder>/level`, keys and values as UTF-8 strings unless the options name other encodings. A folder
 * belongs to one process; its threads share one handle, with the options of the first. Main opens first and closes last, after its threads are gone: otherwise the process crashes.
 *
 * @throws StartError `DATA_UNWRITABLE`, `DATA_NEWER` or `DATA_LOCKED`
 */
export async function openLevel<K = string, V = string>(
  folder: string,
  { service, format, ...options }: LevelOptions<K, V>,
): Promise<ClassicLevel<K, V>> {
  prepareFolder(folder, service, format)
  const db = new ClassicLevel<K, V>(join(folder, 'level'), { multithreading: true, ...options })
  try {
    await db.open()
  } catch (error) {
    throw explain(error, folder, service)
  }
  return db
}

/** Makes the folder, or finds out that it is not ours to use. */
function prepareFolder(folder: string, service: string, format: number): void {
  const file = join(folder, FORMAT_FILE)
  try {
    mkdirSync(folder, { recursive: true })
    accessSync(folder, constants.W_OK)
    if (!existsSync(file)) writeFormat(file, service, format)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new StartError('DATA_UNWRITABLE', `${service}: data folder ${folder} cannot be written (${code})`)
  }
  const found = readFormat(file)
  if (found?.service !== service)
    throw new StartError('DATA_FOREIGN', `${service}: data folder ${folder} is not one of ${service}`)
  if (found.format > format) {
    throw new StartError(
      'DATA_NEWER',
      `${service}: data folder ${folder} has format ${found.format}; this version knows ${format}`,
    )
  }
  // From now on older versions refuse it.
  if (found.format < format) writeFormat(file, service, format)
}

/** The file is there whole or not at all, even if the process is killed meanwhile. */
function writeFormat(file: string, service: string, format: number): void {
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, JSON.stringify({ service, format }))
  renameSync(draft, file)
}

function readFormat(file: string): { service: string; format: number } | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

function explain(error: unknown, folder: string, service: string): Error {
  const { cause } = error as { cause?: { code?: string; message?: string } }
  if (cause?.code === 'LEVEL_LOCKED') {
    return new StartError('DATA_LOCKED', `${service}: data folder ${folder} is in use by another process`)
  }
  return new StartError(
    'DATA_UNREADABLE',
    `${service}: data folder ${folder} cannot be opened (${cause?.message ?? error})`,
  )
}
