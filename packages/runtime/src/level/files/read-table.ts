import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { checkTable, findInTable, type TableCheck, type TableChange, type TableReport } from './level-table.ts'

/** Creates a function that returns the same buffer for every read: a check never needs earlier bytes again. */
function createReusableBuffer(): (bytes: number) => Buffer {
  let buffer = Buffer.alloc(0)
  return (bytes) => (buffer.length < bytes ? (buffer = Buffer.allocUnsafeSlow(bytes)) : buffer)
}

/** The buffer of all synchronous checks, which run one after another. */
const getSharedBuffer = createReusableBuffer()

/** Checks a table synchronously. @throws Error if it cannot be read */
export const checkTableSync = (file: string): TableReport => runSync(file, checkTable)

/** Finds the newest change of a key. @throws Error if the table cannot be read or is damaged */
export const findInTableSync = (file: string, key: Buffer): TableChange | undefined =>
  runSync(file, (bytes) => findInTable(bytes, key))

function runSync<T>(file: string, begin: (fileBytes: number) => TableCheck<T>): T {
  const descriptor = openSync(file, 'r')
  try {
    const check = begin(fstatSync(descriptor).size)
    let step = check.next()
    while (!step.done) {
      const { offset, bytes } = step.value
      const buffer = getSharedBuffer(bytes)
      step = check.next(buffer.subarray(0, readSync(descriptor, buffer, 0, bytes, offset)))
    }
    return step.value
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Checks a table in small steps, so that other work can run.
 * @param pause resolves when the given number of bytes may be read
 * @throws Error if the table cannot be read
 */
export async function checkTableThrottled(file: string, pause: (bytes: number) => Promise<void>): Promise<TableReport> {
  const handle = await open(file, 'r')
  const getBuffer = createReusableBuffer()
  try {
    const check = checkTable((await handle.stat()).size)
    let step = check.next()
    while (!step.done) {
      const { offset, bytes } = step.value
      await pause(bytes)
      const { buffer, bytesRead } = await handle.read(getBuffer(bytes), 0, bytes, offset)
      step = check.next(buffer.subarray(0, bytesRead))
    }
    return step.value
  } finally {
    await handle.close()
  }
}
