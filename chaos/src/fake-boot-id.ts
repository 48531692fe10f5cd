import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

// Preloaded into a service whose power is cut: its boot id differs from that of the service that starts on the crash
// image.

const { readFileSync } = fs
const boot = randomUUID()

function readWithBootId(...args: Parameters<typeof readFileSync>) {
  return args[0] === '/proc/sys/kernel/random/boot_id' ? boot : readFileSync(...args)
}
fs.readFileSync = readWithBootId as typeof readFileSync
syncBuiltinESMExports()
