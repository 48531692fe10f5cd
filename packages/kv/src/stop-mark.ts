import { syncFolder } from '@influencer-stats/runtime/data-format'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** File in the data folder while the operator has stopped all writes. A backup does not contain it. */
const toMarkFile = (folder: string) => join(folder, 'writes-stopped')

export const hasStopMark = (folder: string): boolean => existsSync(toMarkFile(folder))

/** Creates or removes the mark, so that it is safe from a power cut. */
export function writeStopMark(folder: string, isStopped: boolean): void {
  if (isStopped) writeFileSync(toMarkFile(folder), '', { flush: true })
  else rmSync(toMarkFile(folder), { force: true })
  syncFolder(folder)
}
