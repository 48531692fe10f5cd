import { expect, test } from 'vitest'
import { selectSockets, takeActivatedSockets } from '../src/supervisor/activated-sockets.ts'

test('the sockets of systemd are taken once, with their names', () => {
  const env = { LISTEN_FDS: '2', LISTEN_PID: '7', LISTEN_FDNAMES: 'kv:influencer-stats@sse.socket', PATH: '/bin' }
  const sockets = takeActivatedSockets(env, 7)
  expect(sockets).toEqual([
    { fd: 3, name: 'kv' },
    { fd: 4, name: 'influencer-stats@sse.socket' },
  ])
  expect(env).toEqual({ PATH: '/bin' })
  expect(takeActivatedSockets(env, 7)).toEqual([])
  expect(selectSockets(sockets, 'kv', false).map(({ fd }) => fd)).toEqual([3])
  expect(selectSockets(sockets, 'sse', false).map(({ fd }) => fd)).toEqual([4])
  expect(selectSockets(sockets, 'stats', false)).toEqual([])
  expect(selectSockets(sockets, 'stats', true)).toEqual(sockets)
})

test.each([
  [{ LISTEN_FDS: '1', LISTEN_PID: '8' }],
  [{ LISTEN_FDS: '1' }],
  [{ LISTEN_PID: '7' }],
  [{ LISTEN_FDS: 'x', LISTEN_PID: '7' }],
])('sockets of another process are not taken: %j', (env) => expect(takeActivatedSockets(env, 7)).toEqual([]))
