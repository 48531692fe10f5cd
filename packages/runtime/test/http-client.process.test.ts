import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { HttpClient, readText, RequestTimeoutError } from '../src/client/http-client.ts'

/** Starts a server, and opens a client for the prefix `/base`. */
async function open(handle: RequestListener) {
  const server = createServer(handle)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const client = new HttpClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}/base/`, {
    timeout: 60_000,
  })
  onTestFinished(() => {
    client.close()
    server.close()
  })
  return client
}

test('sends requests below its prefix, and reads replies up to a limit', async () => {
  const client = await open((request, response) => response.end(`${request.method} ${request.url}`))
  expect(await readText(await client.request('/a?b=%2f'))).toBe('GET /base/a?b=%2f')
  expect(await readText(await client.request('/', { method: 'PUT', body: 'x' }))).toBe('PUT /base/')
  await expect(client.request('/').then((reply) => readText(reply, 3))).rejects.toThrow('more than 3 bytes')
})

test('a reply must be complete in time, and a stream must begin in time', async () => {
  const client = await open((request, response) => {
    if (request.url !== '/base/silent') response.write('begun')
  })
  const timeout = 50
  await expect(client.request('/silent', { timeout, isStream: true })).rejects.toThrow(RequestTimeoutError)
  await expect(client.request('/slow', { timeout }).then((reply) => readText(reply))).rejects.toThrow()
  const stream = await client.request('/slow', { isStream: true })
  const ended = new Promise((resolve) => stream.on('close', resolve).on('error', () => {}))
  client.close()
  await ended
  await expect(client.request('/')).rejects.toThrow('closed')
})
