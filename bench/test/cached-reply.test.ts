import { expect, it } from 'vitest'
import { CachedReply } from '../src/load/raw/cached-reply.ts'

const reply = (id: string, body = 'value a', more = '') =>
  Buffer.from(`HTTP/1.1 200 OK\r\nx-request-id: ${id}\r\n${more}content-length: ${body.length}\r\n\r\n${body}`)
const matches = (known: CachedReply, bytes: Buffer, at = 0) =>
  bytes.length - at === known.length && known.isLike(bytes, at)

it('a reply is like one that it equals', () => {
  const known = new CachedReply(reply('ab-1'))
  expect(matches(known, reply('ab-1'))).toBe(true)
  expect(matches(known, Buffer.concat([Buffer.from('before'), reply('ab-1')]), 6)).toBe(true)
  expect(matches(known, reply('ab-2'))).toBe(false)
  expect(matches(known, reply('ab-1', 'value b'))).toBe(false)
})

it('a reply is like one that differs in the header in which the last ones did', () => {
  const known = new CachedReply(reply('ab-2'), new CachedReply(reply('ab-1')))
  expect(matches(known, reply('cd-9'))).toBe(true)
  expect(matches(known, Buffer.concat([Buffer.from('before'), reply('cd-9')]), 6)).toBe(true)
  expect(matches(known, reply('cd-9', 'value b'))).toBe(false)
  expect(matches(known, Buffer.from(String(reply('cd-9')).replace('200', '500')))).toBe(false)
  expect(matches(known, Buffer.from(String(reply('cd-9')).replace('x-request-id', 'x-request-ie')))).toBe(false)
  // The value must not contain another header.
  for (const odd of ['a\r\nb', 'a\nbc', 'a\rbc', 'a\0bc']) expect(matches(known, reply(odd.slice(0, 4)))).toBe(false)
})

it.each([
  ['the status', reply('ab-1'), Buffer.from(String(reply('ab-1')).replace('OK', 'KO'))],
  ['the body', reply('ab-1', 'value a'), reply('ab-1', 'value b')],
  ['the name of a header', reply('ab-1', '', 'a: b\r\n'), reply('ab-1', '', 'c: b\r\n')],
  ['the length', reply('ab-1', '', 'content-length: 1\r\n'), reply('ab-1', '', 'content-length: 2\r\n')],
  ['whether it is the last', reply('ab-1', '', 'connection: a\r\n'), reply('ab-1', '', 'connection: b\r\n')],
])('%s must be the same', (_, before, after) => {
  const known = new CachedReply(after, new CachedReply(before))
  expect(matches(known, after)).toBe(true)
  expect(matches(known, before)).toBe(false)
})
