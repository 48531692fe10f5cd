import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

// This module is preloaded into a recorded service and gives it an invented boot id. The service that starts on the
// crash image has the real boot id, as if the machine had started again.

const { readFileSync } = fs
const boot = randomUUID()

function readWithBootId(...args: Parameters<typeof readFileSync>) {
  return args[0] === '/proc/sys/kernel/random/boot_id' ? boot : readFileSync(...args)
}
fs.readFileSync = readWithBootId as typeof readFileSync
syncBuiltinESMExports()
