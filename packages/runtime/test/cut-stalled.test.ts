import { EventEmitter } from 'node:events'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { cutStalled, type CountedSocket } from '../src/http/replies/cut-stalled.ts'

const TIMEOUT_MS = 1_600

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function createSocket() {
  const handle = { bytesRead: 0, bytesWritten: 1_000_000, writeQueueSize: 900_000 }
  const socket = Object.assign(new EventEmitter(), { _handle: handle, destroy: vi.fn<() => void>() })
  return { handle, socket: socket as typeof socket & CountedSocket }
}

it.each([0, 1, 99, 100, 101, 5_000])('cuts a client that reads nothing after %i ms, within the time-out', (active) => {
  const { socket, handle } = createSocket()
  cutStalled(socket, TIMEOUT_MS, { complete: true })
  for (let at = 0; at < active; at++) {
    vi.advanceTimersByTime(1)
    handle.writeQueueSize--
    handle.bytesRead++
  }
  // Further input is no sign of a client that reads.
  for (let at = 0; at < 0.9 * TIMEOUT_MS; at++) {
    vi.advanceTimersByTime(1)
    handle.bytesRead++
  }
  expect(socket.destroy).not.toHaveBeenCalled()
  vi.advanceTimersByTime(0.1 * TIMEOUT_MS)
  expect(socket.destroy).toHaveBeenCalledOnce()
})

it('does not cut a client that still sends its request', () => {
  const { socket, handle } = createSocket()
  const request = { complete: false }
  cutStalled(socket, TIMEOUT_MS, request)
  for (let i = 0; i < 100; i++) {
    vi.advanceTimersByTime(TIMEOUT_MS / 2)
    handle.bytesRead++
  }
  expect(socket.destroy).not.toHaveBeenCalled()
  request.complete = true
  vi.advanceTimersByTime(2 * TIMEOUT_MS)
  expect(socket.destroy).toHaveBeenCalled()
})

it.each(['drain', 'close'])('ends at %s, and starts again', (event) => {
  const { socket } = createSocket()
  const cut = () => cutStalled(socket, TIMEOUT_MS, { complete: true })
  cut()
  cut()
  expect(vi.getTimerCount()).toBe(1)
  socket.emit(event)
  expect([vi.getTimerCount(), socket.listenerCount(event)]).toEqual([0, 0])
  cut()
  expect(vi.getTimerCount()).toBe(1)
})
