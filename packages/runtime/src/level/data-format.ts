import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { computeCrc32c } from './files/crc32c.ts'
import { StartError } from '../errors/common-errors.ts'

/** Content of `format.json` in a data folder. */
export interface DataFormat {
  /** The service that the data belongs to. */
  readonly service: string
  /** Version of the data layout, from 1. */
  readonly format: number
  /**
   * The previous version while an upgrade is in progress: some of the data may still have it. 0 while the folder is
   * being created.
   */
  readonly from?: number
  /** Checksum of the other fields. Versions before 0.3 wrote none. */
  readonly sum?: string
}

const FORMAT_FILE = 'format.json'

/**
 * Returns the checksum of the fields that this version knows. A version that adds fields has a larger `format`, which
 * this version refuses.
 */
const computeChecksum = ({ service, format, from }: Partial<DataFormat>): string =>
  computeCrc32c(Buffer.from(JSON.stringify([service, format, from]))).toString(16)

const isVersion = (value: unknown) => Number.isSafeInteger(value) && (value as number) > 0

function parseFormat(text: string): Partial<DataFormat> | undefined {
  try {
    return Object(JSON.parse(text))
  } catch {
    return undefined
  }
}

/**
 * Reads the service and the format of a data folder. Undefined if the folder has no data and no intact format file.
 *
 * @param format format for the advice in the message
 * @param hasData true if the folder has data: a missing format file is then damage
 * @throws StartError `DATA_FOREIGN`, `DATA_FORMAT_DAMAGED`
 */
export function readFormat(folder: string, service: string, format: number, hasData: boolean): DataFormat | undefined {
  const file = join(folder, FORMAT_FILE)
  let text = ''
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const found = parseFormat(text)
  const isAltered = found?.sum !== undefined && found.sum !== computeChecksum(found)
  if (!found || isAltered) {
    // A power cut at the first start can cause this. No data is lost.
    if (!hasData) return undefined
    const damage = isAltered ? 'has a wrong checksum' : 'is missing, empty or truncated, although the folder has data'
    throw new StartError(
      'DATA_FORMAT_DAMAGED',
      `${service}: ${file} ${damage}: write ${JSON.stringify({ service, format })} to it, ` +
        `if ${format} is the format of the data`,
    )
  }
  const { from = 0 } = found
  if (found.service !== service || !isVersion(found.format) || !(from === 0 || isVersion(from))) {
    throw new StartError('DATA_FOREIGN', `${service}: data folder ${folder} belongs to another service`)
  }
  return found as DataFormat
}

/** Writes the format file and syncs it. After a power cut, the complete old or the complete new file exists. */
export function writeFormat(folder: string, format: DataFormat): void {
  const file = join(folder, FORMAT_FILE)
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, JSON.stringify({ ...format, sum: computeChecksum(format) }), { flush: true })
  renameSync(draft, file)
  syncFolder(folder)
}

/** Syncs the file names in a folder, so that they survive a power cut. */
export function syncFolder(folder: string): void {
  // Windows neither needs this nor lets a folder be opened.
  if (process.platform !== 'win32') syncFile(folder, 'r')
}

export function syncFile(file: string, flags = 'r+'): void {
  const descriptor = openSync(file, flags)
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
