import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { checkTable, type TableReport } from './table.ts'

/** Checks a table while nothing else happens. @throws Error where it cannot be read */
export function checkTableNow(file: string): TableReport {
  const descriptor = openSync(file, 'r')
  try {
    const check = checkTable(fstatSync(descriptor).size)
    let step = check.next()
    while (!step.done) {
      const { offset, bytes } = step.value
      const buffer = Buffer.allocUnsafeSlow(bytes)
      step = check.next(buffer.subarray(0, readSync(descriptor, buffer, 0, bytes, offset)))
    }
    return step.value
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Checks a table in small steps, so that other work goes on.
 * @param pause resolves when the next so many bytes may be read
 * @throws Error where it cannot be read
 */
export async function checkTableSlowly(file: string, pause: (bytes: number) => Promise<void>): Promise<TableReport> {
  const handle = await open(file, 'r')
  try {
    const check = checkTable((await handle.stat()).size)
    let step = check.next()
    while (!step.done) {
      const { offset, bytes } = step.value
      await pause(bytes)
      const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafeSlow(bytes), 0, bytes, offset)
      step = check.next(buffer.subarray(0, bytesRead))
    }
    return step.value
  } finally {
    await handle.close()
  }
}
