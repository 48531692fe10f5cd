import { basename } from 'node:path'
import { StartError } from '../errors/common-errors.ts'
import { describeFinding } from '../level/integrity/assert-sound.ts'
import { findDataFolders, type DataFolder } from '../level/integrity/data-folders.ts'
import { isLocked } from '../level/integrity/is-locked.ts'
import { hasLevelData } from '../level/files/level-files.ts'
import { createLockedError } from '../level/integrity/lock-error.ts'
import type { OwnRow, OwnRows } from '../level/integrity/own-row.ts'
import { repairFolder, type Repair } from '../level/integrity/repair-folder.ts'
import { UNLIMITED_OPTIONS, type Finding } from '../level/integrity/folder-verification.ts'
import { verifyFolder } from '../level/integrity/verify-folder.ts'
import { readFormat } from '../level/data-format.ts'

const SOUND_STATUS = 0
const DAMAGED_STATUS = 1
const UNCHECKED_STATUS = 2

type LineOutput = (line: string) => void

const describeKey = (key: Buffer): string => JSON.stringify(key.toString())

function describeWithKeys(finding: Finding): string {
  const { block } = finding
  if (!block) return describeFinding(finding)
  const from = block.after ? `after ${describeKey(block.after)}, ` : ''
  return `${describeFinding(finding)}; its keys are ${from}up to ${describeKey(block.upTo)}`
}

/** Runs `work` for each data folder, and continues after a failure. Resolves with the largest status. */
async function runForEach(
  root: string,
  services: readonly string[],
  print: LineOutput,
  work: (folder: DataFolder) => Promise<number>,
): Promise<number> {
  const toStatus = (error: unknown): number => {
    const { message, syscall } = error as NodeJS.ErrnoException
    // For example, a folder without read permission.
    if (!(error instanceof StartError) && !syscall) throw error
    print(message)
    return UNCHECKED_STATUS
  }
  let largest = SOUND_STATUS
  try {
    for (const folder of findDataFolders(root, services))
      largest = Math.max(largest, await work(folder).catch(toStatus))
  } catch (error) {
    return toStatus(error)
  }
  return largest
}

/**
 * Returns the row that a folder must have. `undefined` for the folder `view` of a cluster node: if the row is missing
 * there, the next start clears the folder and rebuilds it from the log. Also `undefined` for a format that is older
 * than the row (see `OwnRow.since`), and for a damaged format file, because the format of the data is then unknown.
 */
async function findOwnRow({ service, folder }: DataFolder, ownRows: OwnRows): Promise<OwnRow | undefined> {
  if (findFormatDamage(service, folder).length > 0) return undefined
  const load = Object.hasOwn(ownRows, service) && basename(folder) !== 'view' ? ownRows[service] : undefined
  const row = await load?.()
  const format = row && readFormat(folder, service, row.since, hasLevelData(folder))
  return format && (format.from ?? format.format) >= row.since ? row : undefined
}

/**
 * Prints all damage of data folders, one line each, and changes nothing.
 * @returns 0 if all folders are sound, 1 if one is damaged, 2 if one cannot be checked or no data folder exists
 */
export const checkData = (
  root: string,
  services: readonly string[],
  print: LineOutput,
  ownRows: OwnRows = {},
): Promise<number> =>
  runForEach(root, services, print, async ({ service, folder }) => {
    if (await isLocked(folder)) throw createLockedError(service, folder)
    const { damage, lostChanges } = await findDamage({ service, folder }, ownRows)
    for (const line of damage) print(`${service}: ${folder}: ${line}`)
    if (lostChanges > 0)
      print(`${service}: ${folder}: ${lostChanges} changes that were not durable are missing, as after a power cut`)
    if (damage.length === 0) print(`${service}: ${folder}: no damage`)
    return damage.length > 0 ? DAMAGED_STATUS : SOUND_STATUS
  })

async function findDamage(
  dataFolder: DataFolder,
  ownRows: OwnRows,
): Promise<{ damage: string[]; lostChanges: number }> {
  const { service, folder } = dataFolder
  const damage = findFormatDamage(service, folder)
  if (!hasLevelData(folder)) return { damage, lostChanges: 0 }
  const ownRow = await findOwnRow(dataFolder, ownRows)
  const { findings, lostChanges } = verifyFolder(folder, { ...UNLIMITED_OPTIONS, ownKey: ownRow?.key })
  return { damage: [...damage, ...findings.map(describeWithKeys)], lostChanges }
}

function findFormatDamage(service: string, folder: string): string[] {
  try {
    readFormat(folder, service, 1, hasLevelData(folder))
    return []
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    return [error.message]
  }
}

/**
 * Copies damaged data folders, salvages readable entries, and prints the loss.
 * @returns 0 if all folders are sound now, 2 if one cannot be repaired or no data folder exists
 */
export const repairData = (
  root: string,
  services: readonly string[],
  print: LineOutput,
  ownRows: OwnRows = {},
): Promise<number> =>
  runForEach(root, services, print, async (folder) => {
    const repair = await repairFolder(folder, await findOwnRow(folder, ownRows))
    for (const line of formatRepair(repair)) print(`${folder.service}: ${folder.folder}: ${line}`)
    return SOUND_STATUS
  })

function formatRepair(repair: Repair): string[] {
  const { findings, copy, lostTables, lostBlocks, lostLogBytes, lostWithRow, entries } = repair
  if (findings.length === 0) return ['no damage; nothing was changed']
  return [
    ...findings.map(describeWithKeys),
    `copied to ${copy}`,
    `lost: ${lostTables.length} tables, ${lostBlocks} blocks of tables, ${lostLogBytes} bytes of logs`,
    ...lostTables.map((name) => `lost: all of level/${name}`),
    ...lostWithRow.map((line) => `lost: ${line}`),
    `salvaged: ${entries} entries; if a deletion or a newer value was lost, the older value is present again`,
  ]
}
