import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fewDescriptors } from '../src/process/descriptors.ts'
import { temporaryFolder } from './support/temporary.ts'

test.each([
  ['1024', 1, true],
  ['66560', 1, false],
  ['66559', 0, true],
  ['66560', 2, true],
  ['unlimited', 64, false],
])('a limit of %s for %i threads: %s', (limit, threads, isTold) => {
  const file = join(temporaryFolder(), 'limits')
  writeFileSync(
    file,
    `Limit     Soft Limit  Hard Limit  Units\nMax open files            ${limit}       1048576   files\n`,
  )
  const told = fewDescriptors({ maxConnections: 65_536 }, threads, file)
  expect(told !== undefined).toBe(isTold)
})

test('where nobody tells, nothing is said', () => {
  expect(fewDescriptors({ maxConnections: 65_536 }, 1, '/nowhere')).toBeUndefined()
})
