import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { AREAS, NAMED_MUTATIONS } from '../src/mutations/named-mutations.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const files = globSync('{packages,chaos,scripts}/**/*.ts', { cwd: ROOT, exclude: ['**/node_modules/**'] })

/** The expressions of an area for one file each: `^a/(b|c)\.ts$` names two. */
function listFilePatterns({ source }: RegExp): RegExp[] {
  const group = /\(([^()]+)\)/.exec(source)
  if (!group) return [new RegExp(source)]
  return group[1]!.split('|').flatMap((one) => listFilePatterns(new RegExp(source.replace(group[0], one))))
}

it.each(AREAS.flatMap((area) => listFilePatterns(area.files)))('the area %s has a file', (pattern) => {
  expect(files.filter((file) => pattern.test(file))).not.toEqual([])
})

it.each([...AREAS, ...NAMED_MUTATIONS].flatMap((one) => [...('near' in one ? one.near : []), ...one.tests]))(
  'the tests %s exist',
  (path) => {
    expect(files.filter((file) => file.startsWith(path) && /\.(?:test|chaos)\.ts$/.test(file))).not.toEqual([])
  },
)

it.each(NAMED_MUTATIONS)('$from is in $file', ({ file, from }) => {
  expect(from.test(readFileSync(new URL(file, `file://${ROOT}`), 'utf8'))).toBe(true)
})
