import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { SERVERS } from '../src/settings/settings.ts'
import { startCounter } from './support/counter-service.ts'
import { takeReply } from './support/raw-client.ts'
import { startProcessClock } from './support/process-clock.ts'

const HEAD = 'PUT /value HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n'
const PIECE = Buffer.alloc(65_536, 'x')

/** A client that reads nothing until it has sent everything, as most libraries do. */
async function connectBlockingClient(port: number) {
  const socket = connect({ port, host: '127.0.0.1' })
  onTestFinished(() => void socket.destroy())
  let fault: Error | undefined
  let text = ''
  socket.on('error', (error) => (fault = error)).pause()
  socket
    .setEncoding('latin1')
    .on('data', (part: string) => (text += part))
    .pause()
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await once(socket, 'connect')
  return {
    closed,
    /** Sends bytes. Returns false if the connection was reset. */
    async send(bytes: Buffer | string): Promise<boolean> {
      if (!socket.write(bytes)) await Promise.race([once(socket, 'drain').catch(() => {}), closed])
      return fault === undefined && !socket.destroyed
    },
    async readReply() {
      socket.resume()
      await closed
      return { fault, reply: takeReply(text)?.reply }
    },
  }
}

describe.each(SERVERS)('a client that sends more than is allowed and then reads, served by %s', (server) => {
  it.each([
    ['with a length', (size: number) => `content-length: ${size}\r\n\r\n`, (piece: Buffer) => piece, ''],
    [
      'in chunks',
      () => 'transfer-encoding: chunked\r\n\r\n',
      (piece: Buffer) => Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]),
      '0\r\n\r\n',
    ],
  ])('gets 413 and no reset: %s', async (_how, formatEnd, frame, last) => {
    const counter = await startCounter({ server, bodyLimit: 1_000 })
    const client = await connectBlockingClient(counter.port)
    await client.send(HEAD + formatEnd(160 * PIECE.length))
    for (let i = 0; i < 160; i++) expect(await client.send(frame(PIECE))).toBe(true)
    await client.send(last)
    const { fault, reply } = await client.readReply()
    expect([fault, reply?.status, reply?.headers.connection]).toEqual([undefined, 413, 'close'])
  })

  it('is disconnected after 64 MiB, or after 5 s', async () => {
    const counter = await startCounter({ server, bodyLimit: 1_000 })
    const [endless, slow] = [await connectBlockingClient(counter.port), await connectBlockingClient(counter.port)]
    const time = startProcessClock()
    const head = `${HEAD}content-length: 100000000000\r\n\r\n`
    await Promise.all([endless.send(head), slow.send(head)])
    let pieces = 0
    while (await endless.send(PIECE)) expect(pieces++).toBeLessThan(80_000)
    while (await slow.send('x')) await delay(50)
    expect(time()).toBeLessThan(20_000)
  })
})
