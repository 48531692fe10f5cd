import { appendFileSync, mkdtempSync, readdirSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { stripTypesCached } from '../src/assets/strip-types-cache.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'page-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const MODULE = '/** A number. */\nexport const one: number = 1\n'
const SCRIPT = 'export const one = 1;\n'

const onlyFile = () => {
  const files = readdirSync(folder)
  expect(files).toHaveLength(1)
  return join(folder, files[0]!)
}

it('types and comments are stripped, and the result is stored for the next start', () => {
  expect(stripTypesCached(MODULE, folder)).toBe(SCRIPT)
  const file = onlyFile()
  expect(stripTypesCached(MODULE, folder)).toBe(SCRIPT)
  expect(onlyFile()).toBe(file)
})

it('another module is another file', () => {
  stripTypesCached(MODULE, folder)
  expect(stripTypesCached('export const two: number = 2\n', folder)).toBe('export const two = 2;\n')
  expect(readdirSync(folder)).toHaveLength(2)
})

it.each([
  ['cut off', (file: string) => truncateSync(file, 80)],
  ['empty', (file: string) => truncateSync(file, 0)],
  ['longer than it was', (file: string) => appendFileSync(file, 'alert(1)')],
])('a file that is %s is made anew', (_how, damage) => {
  stripTypesCached(MODULE, folder)
  damage(onlyFile())
  expect(stripTypesCached(MODULE, folder)).toBe(SCRIPT)
  expect(stripTypesCached(MODULE, folder)).toBe(SCRIPT)
  onlyFile()
})

it('types are stripped each time if the result cannot be stored', () => {
  expect(stripTypesCached(MODULE, join(folder, 'not there'))).toBe(SCRIPT)
  expect(stripTypesCached(MODULE, undefined)).toBe(SCRIPT)
})
