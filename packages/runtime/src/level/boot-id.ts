import { readFileSync } from 'node:fs'

/** Id of the current boot: it changes with every start of the machine. Undefined if the system has none. */
export function readBootId(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return undefined
  }
}
