import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

// Loaded ahead of a service whose power is to be cut: it lives on another run of the machine than what is started on
// what remains.

const { readFileSync } = fs
const boot = randomUUID()

function readWithBootId(...args: Parameters<typeof readFileSync>) {
  return args[0] === '/proc/sys/kernel/random/boot_id' ? boot : readFileSync(...args)
}
fs.readFileSync = readWithBootId as typeof readFileSync
syncBuiltinESMExports()
