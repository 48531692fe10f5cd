import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { checkTable, findInTable, type Check, type TableChange, type TableReport } from './table.ts'

/** Buffer that every read reuses: a check never needs earlier bytes again. */
function createRoom(): (bytes: number) => Buffer {
  let room = Buffer.alloc(0)
  return (bytes) => (room.length < bytes ? (room = Buffer.allocUnsafeSlow(bytes)) : room)
}

/** Shared by checks that run one after the other. */
const roomFor = createRoom()

/** Checks a table while nothing else happens. @throws Error where it cannot be read */
export const checkTableNow = (file: string): TableReport => runNow(file, checkTable)

/** Finds the newest change of a key. @throws Error if the table cannot be read or is damaged */
export const findInTableNow = (file: string, key: Buffer): TableChange | undefined =>
  runNow(file, (bytes) => findInTable(bytes, key))

function runNow<T>(file: string, begin: (fileBytes: number) => Check<T>): T {
  const descriptor = openSync(file, 'r')
  try {
    const check = begin(fstatSync(descriptor).size)
    let step = check.next()
    while (!step.done) {
      const { offset, bytes } = step.value
      const buffer = roomFor(bytes)
      step = check.next(buffer.subarray(0, readSync(descriptor, buffer, 0, bytes, offset)))
    }
    return step.value
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Checks a table in small steps, so other work can run.
 * @param pause resolves when the given number of bytes may be read
 * @throws Error where it cannot be read
 */
export async function checkTableSlowly(file: string, pause: (bytes: number) => Promise<void>): Promise<TableReport> {
  const handle = await open(file, 'r')
  const roomOf = createRoom()
  try {
    const check = checkTable((await handle.stat()).size)
    let step = check.next()
    while (!step.done) {
      const { offset, bytes } = step.value
      await pause(bytes)
      const { buffer, bytesRead } = await handle.read(roomOf(bytes), 0, bytes, offset)
      step = check.next(buffer.subarray(0, bytesRead))
    }
    return step.value
  } finally {
    await handle.close()
  }
}
