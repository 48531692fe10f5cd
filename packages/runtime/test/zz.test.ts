import { test } from 'vitest'
import { embed } from '../src/process/embed.ts'
import { counter } from './fixtures/services.ts'
import { exchange } from './support/exchange.ts'
import { SERVERS } from '../src/settings/settings.ts'
const a = "GET /text HTTP/1.1\r\nHost: localhost\r\nauthorization: Bearer change\r\ntransfer-encoding: chunked\r\n\r\n7\r\n{\"a\":1}\r\n0\r\n"
const b = "GET /items/ab/view HTTP/1.1\r\nHost: localhost\r\nauthorization: Bearer change\r\n\r\n"
test('x', async () => {
  for (const server of SERVERS) {
    const s = await embed(counter, { server })
    const port = Number(new URL(s.url).port)
    for (const pieces of [[a + b], [a, b]]) {
      const r = await exchange(port, pieces, false)
      console.log(server, pieces.length, JSON.stringify(r).slice(-300))
    }
    await s.stop()
  }
})
