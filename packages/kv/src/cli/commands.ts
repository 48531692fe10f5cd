import type { Command } from './common/command.ts'
import { allowWritesCommand } from './commands/allow-writes.ts'
import { checkCommand, repairCommand } from './commands/data-folders.ts'
import { deleteCommand } from './commands/delete.ts'
import { exportCommand } from './commands/export.ts'
import { getCommand } from './commands/get.ts'
import { importCommand } from './commands/import.ts'
import { putCommand } from './commands/put.ts'
import { scanCommand } from './commands/scan.ts'
import { watchCommand } from './commands/watch.ts'

/** Table of all commands, in the order of `--help`. */
export const commands: readonly Command[] = [
  getCommand,
  putCommand,
  deleteCommand,
  scanCommand,
  watchCommand,
  exportCommand,
  importCommand,
  allowWritesCommand,
  checkCommand,
  repairCommand,
]
