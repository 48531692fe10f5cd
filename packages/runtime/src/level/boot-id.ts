import { readFileSync } from 'node:fs'

/** Reads an id from a file. Undefined if the system has none. */
function readId(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return undefined
  }
}

/** Id of the current boot: it changes with every start of the machine. */
export const readBootId = () => readId('/proc/sys/kernel/random/boot_id')

export const readMachineId = () => readId('/etc/machine-id')
