import { expect, it } from 'vitest'
import { isGzipAccepted } from '../src/http/request/accepts-gzip.ts'

it.each([
  ['gzip', true],
  ['gzip, deflate, br', true],
  ['x-gzip', true],
  ['GZIP;Q=0.1', true],
  ['deflate;q=1, gzip;q=0.5', true],
  ['*', true],
  ['gzip;q=0.5, identity;q=0.5', true],
  ['gzip, identity;q=0', true],
  ['gzip;q=0.5, identity', false],
  ['identity', false],
  ['gzip;q=0', false],
  ['*;q=0', false],
  ['gzip;q=0, *', false],
  ['', false],
  [undefined, false],
])('gzip is accepted by %j: %j', (header, expected) => {
  expect(isGzipAccepted(header)).toBe(expected)
})
