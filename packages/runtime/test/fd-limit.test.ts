import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkFdLimit } from '../src/supervisor/fd-limit.ts'
import { createTemporaryFolder } from './support/temporary-folder.ts'

test.each([
  ['1024', 1, true],
  ['66560', 1, false],
  ['66559', 0, true],
  ['66560', 2, true],
  ['unlimited', 64, false],
])('warns about a limit of %s for %i threads: %s', (limit, threads, hasWarning) => {
  const file = join(createTemporaryFolder(), 'limits')
  writeFileSync(
    file,
    `Limit     Soft Limit  Hard Limit  Units\nMax open files            ${limit}       1048576   files\n`,
  )
  const warning = checkFdLimit({ maxConnections: 65_536 }, threads, file)
  expect(warning !== undefined).toBe(hasWarning)
})

test('does not warn if the limit is unknown', () => {
  expect(checkFdLimit({ maxConnections: 65_536 }, 1, '/nowhere')).toBeUndefined()
})
