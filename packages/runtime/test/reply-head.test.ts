import { expect, test } from 'vitest'
import { toHeaders, matchesEtag, isUnchanged } from '../src/http/server/reply-head.ts'

const reply = { status: 200, headers: ['x-a', '1'], etag: '"t"', type: 'text/plain', body: '\u2460' }

test('a reply begins with its own headers and has its length in bytes', () => {
  expect(toHeaders(reply, false)).toEqual('x-a 1 etag "t" content-type text/plain content-length 3'.split(' '))
  expect(toHeaders(reply, true)).toEqual('x-a 1 etag "t"'.split(' '))
})

test('omits the body only for reads with status 200', () => {
  const known = { 'if-none-match': '"t"' }
  expect(isUnchanged(reply, known, true)).toBe(true)
  expect(isUnchanged(reply, known, false)).toBe(false)
  expect(isUnchanged({ ...reply, status: 404 }, known, true)).toBe(false)
  expect(isUnchanged(reply, {}, true)).toBe(false)
})

test.each([
  ['"t"', true],
  ['*', true],
  ['W/"t"', true],
  ['"s", W/"t" ,"u"', true],
  ['"s"', false],
  ['t', false],
  ['', false],
  [undefined, false],
])('If-None-Match: %s', (given, known) => {
  expect(matchesEtag(given, '"t"')).toBe(known)
})
