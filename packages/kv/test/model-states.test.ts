import { expect, it } from 'vitest'
import type { HttpReply } from './model/connection.ts'
import { EtagHistory } from './model/history.ts'
import { KeySpace, type ExpiryInterval } from './model/key-space.ts'
import { PossibleStates } from './model/possible-states.ts'

// Rules of the model itself. A mistake in them shows only on a slow machine.

const EMPTY_BODY = Buffer.alloc(0)

function createStates(expiry: ExpiryInterval) {
  const history = new EtagHistory()
  const write = history.createWrite('put')
  history.recordEtag(write, '"1"')
  const space = KeySpace.EMPTY.with('k', { value: Buffer.from('x'), write, expiry })
  return { history, states: new PossibleStates(history, [space]) }
}

const reply = (status: number, etag: string | undefined, body = EMPTY_BODY, code?: string): HttpReply => ({
  status,
  headers: new Map(etag === undefined ? [] : [['etag', etag]]),
  pieces: [],
  body: code === undefined ? body : Buffer.from(JSON.stringify({ code })),
  sentAt: 1_050,
  receivedAt: 1_060,
})

it('learns nothing about an expiry from a reply that is the same before and after it', () => {
  const expiry = { earliest: 1_000, latest: 1_100 }
  const { history, states } = createStates(expiry)
  const write = history.createWrite('put')
  states.check({ type: 'put', key: 'k', value: Buffer.from('y') }, write, reply(201, '"2"'))
  expect(expiry).toEqual({ earliest: 1_000, latest: 1_100 })
})

it.each([
  ['present', reply(200, '"1"', Buffer.from('x')), { earliest: 1_051, latest: 1_100 }],
  ['absent', reply(404, undefined, EMPTY_BODY, 'ENTITY_NOT_FOUND'), { earliest: 1_000, latest: 1_060 }],
])('learns the interval from a reply that shows the value to be %s', (_, found, expected) => {
  const expiry = { earliest: 1_000, latest: 1_100 }
  const { history, states } = createStates(expiry)
  const headers = new Map([...found.headers, ['content-length', String(found.body.length)]])
  states.check({ type: 'get', key: 'k' }, history.createWrite('get'), { ...found, headers })
  expect(expiry).toEqual(expected)
})
