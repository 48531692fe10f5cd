import * as fc from 'fast-check'
import { HOT_BODY_LIMIT } from '../../fixtures/hot-routes.ts'
import { pickMostly, anyOf } from './choices.ts'

export const bodies = fc.oneof(
  { weight: 3, arbitrary: anyOf('{"a":1}', 'x', '', '\xe9\0\xff\r\n\r\n') },
  {
    weight: 1,
    arbitrary: anyOf(
      'GET /items/zz/view HTTP/1.1\r\nHost: localhost\r\n\r\n',
      'x'.repeat(2_000),
      'y'.repeat(70_000),
      'z'.repeat(140_000),
      'z'.repeat(HOT_BODY_LIMIT + 1),
    ),
  },
)
export const types = pickMostly(
  anyOf(undefined, 'application/json', 'text/plain'),
  anyOf(
    'application/json; charset=utf-8',
    'application/json;charset=utf-8',
    'application/JSON',
    'Application/json',
    'application/json,text/plain',
    'application/json ',
    'application',
    'application/',
    '/json',
    '',
    'text/html; charset="x',
    'text/plain; charset=utf-8',
    'multipart/form-data; boundary=x',
    'application/octet-stream',
    'application/x-www-form-urlencoded',
    'a/b/c',
    'application/\xe9',
    '*/*',
    'application/vnd.a+json',
  ),
  3,
)

/** The framing of a body: its header fields, and the body in parts as it is sent. */
interface BodyFraming {
  readonly fields: readonly string[]
  readonly body: readonly string[]
}

const chunked = (body: string, extension = '') =>
  body === '' ? '0\r\n\r\n' : `${body.length.toString(16)}${extension}\r\n${body}\r\n0\r\n\r\n`
const framings: ((body: string) => BodyFraming)[] = [
  (body) => ({ fields: [`content-length: ${body.length}`], body: [body] }),
  (body) => ({ fields: [`Content-Length:${body.length}`], body: [body] }),
  () => ({ fields: [], body: [''] }),
  () => ({ fields: ['content-length: 0'], body: [''] }),
]
const oddFramings: ((body: string) => BodyFraming)[] = [
  (body) => ({ fields: [], body: ['', body] }),
  (body) => ({ fields: [`content-length: +${body.length}`], body: [body] }),
  (body) => ({ fields: [`content-length: -${body.length}`], body: [body] }),
  (body) => ({ fields: [`content-length: 00${body.length}`], body: [body] }),
  (body) => ({ fields: [`content-length: 0x${body.length.toString(16)}`], body: [body] }),
  (body) => ({ fields: [`content-length: ${body.length} `], body: [body] }),
  (body) => ({ fields: [`content-length: ${body.length};`], body: [body] }),
  (body) => ({ fields: [`content-length: ${body.length}.0`], body: [body] }),
  (body) => ({ fields: [`content-length: 1 ${body.length}`], body: [body] }),
  (body) => ({ fields: [`content-length: ${body.length}, ${body.length}`], body: [body] }),
  (body) => ({ fields: [`content-length: ${body.length}`, `content-length: ${body.length}`], body: [body] }),
  (body) => ({ fields: [`content-length: ${body.length}`, 'content-length: 0'], body: [body] }),
  (body) => ({ fields: ['content-length:'], body: [body] }),
  () => ({ fields: ['content-length: 999999999999999'], body: ['x'] }),
  () => ({ fields: ['content-length: 99999999999999999999999'], body: ['x'] }),
  (body) => ({
    fields: [`content-length: ${Math.max(0, body.length - 1)}`],
    body: [body.slice(0, -1), body.slice(-1)],
  }),
  (body) => ({ fields: [`content-length: ${body.length + 1}`], body: [body] }),
  (body) => ({ fields: [`content-length: ${body.length + 30}`], body: [body] }),
  (body) => ({ fields: ['transfer-encoding: chunked'], body: [chunked(body)] }),
  (body) => ({ fields: ['Transfer-Encoding: Chunked'], body: [chunked(body, ';x=1')] }),
  (body) => ({ fields: ['transfer-encoding: chunked'], body: [chunked(body).slice(0, -2)] }),
  (body) => ({ fields: ['transfer-encoding: chunked'], body: [chunked(body).slice(0, -2) + 'x-t: 1\r\n\r\n'] }),
  (body) => ({ fields: ['transfer-encoding: chunked'], body: [body] }),
  (body) => ({ fields: ['transfer-encoding: chunked'], body: [chunked(body).replaceAll('\r\n', '\n')] }),
  (body) => ({ fields: ['transfer-encoding: chunked', 'transfer-encoding: chunked'], body: [chunked(body)] }),
  (body) => ({ fields: ['transfer-encoding: gzip, chunked'], body: [chunked(body)] }),
  (body) => ({ fields: ['transfer-encoding: chunked, gzip'], body: [chunked(body)] }),
  (body) => ({ fields: ['transfer-encoding: xchunked'], body: [chunked(body)] }),
  (body) => ({ fields: ['transfer-encoding:'], body: [chunked(body)] }),
  (body) => ({ fields: ['transfer-encoding : chunked'], body: [chunked(body)] }),
  (body) => ({ fields: ['transfer-encoding: chunked', `content-length: ${body.length}`], body: [chunked(body)] }),
  (body) => ({ fields: [`content-length: ${body.length}`, 'transfer-encoding: chunked'], body: [chunked(body)] }),
]
export const getFramings = (method: string) => {
  const usual = method === 'PUT' || method === 'POST' ? framings.slice(0, 2) : framings.slice(2)
  return pickMostly(fc.constantFrom(...usual), fc.constantFrom(...framings, ...oddFramings), 5)
}
