import { expect, test } from 'vitest'
import { getEditDistance } from '../src/settings/edit-distance.ts'

test.each([
  ['', '', 0],
  ['', 'port', 4],
  ['port', 'port', 0],
  ['prot', 'port', 2],
  ['thread', 'threads', 1],
  ['kitten', 'sitting', 3],
  ['max-que-delay', 'max-queue-delay', 2],
  ['abc', 'xyz', 3],
])('%j and %j differ in %i characters', (a, b, distance) => {
  expect([getEditDistance(a, b), getEditDistance(b, a)]).toEqual([distance, distance])
})
