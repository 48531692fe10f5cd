import { expect, test } from 'vitest'
import { createHealthMemory, WriteHealth } from '../src/level/write-health.ts'

test.each([
  ['IO error: 000003.log: No space left on device', 'DISK_FULL', /^Disk full$/],
  ['IO error: 000003.log: Read-only file system', 'STORE_FAILED', /read-only \(EROFS\)/],
  ['IO error: 000003.log: Input/output error', 'STORE_FAILED', /^Store is read-only after a write error$/],
])('explains a failed write: %s', (cause, code, message) => {
  const health = new WriteHealth({ memory: createHealthMemory(), slot: 0 })
  const { problem, first } = health.markFailed(new Error('Database failure', { cause: new Error(cause) }))
  expect(first).toBe(true)
  expect(problem).toMatchObject({ code, message: expect.stringMatching(message) })
  expect(() => health.begin()).toThrow(message)
})
