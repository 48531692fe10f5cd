import { expect, test } from 'vitest'
import { isKnown, toOutgoing } from '../src/door/reply-head.ts'

const reply = { status: 200, headers: ['x-a', '1'], etag: '"t"', type: 'text/plain', body: '\u2460' }
const made = (ifNoneMatch: string | undefined, isRead = true, status = 200) =>
  toOutgoing({ ...reply, status }, { 'if-none-match': ifNoneMatch }, isRead, 'id', ['vary', 'Origin'])

test('the runtime says what is its own first, and the length in bytes', () => {
  expect(made(undefined)).toEqual({
    status: 200,
    headers: 'x-request-id id vary Origin x-a 1 etag "t" content-type text/plain content-length 3'.split(' '),
    body: '\u2460',
  })
})

test('only who reads, and is answered with 200, is spared the body', () => {
  expect(made('"t"')).toMatchObject({ status: 304, body: '', headers: expect.not.arrayContaining(['content-length']) })
  expect(made('"t"', false).status).toBe(200)
  expect(made('"t"', true, 404).status).toBe(404)
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
  expect(isKnown(given, '"t"')).toBe(known)
})
