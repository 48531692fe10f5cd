import type { Command } from './command.ts'
import { checkCommand, repairCommand } from './data-folders.ts'
import { deleteCommand } from './delete.ts'
import { exportCommand } from './export.ts'
import { getCommand } from './get.ts'
import { importCommand } from './import.ts'
import { putCommand } from './put.ts'
import { scanCommand } from './scan.ts'
import { watchCommand } from './watch.ts'

/** Table of all commands, in the order of `--help`. */
export const commands: readonly Command[] = [
  getCommand,
  putCommand,
  deleteCommand,
  scanCommand,
  watchCommand,
  exportCommand,
  importCommand,
  checkCommand,
  repairCommand,
]
