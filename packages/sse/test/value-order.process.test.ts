import { SERVERS } from '@influencer-stats/runtime/settings'
import { formatRequest, openRawClient } from '@influencer-stats/runtime/testing/raw-client'
import { expect, it } from 'vitest'
import { startSse } from './support/test-sse.ts'

it.each(SERVERS)(
  'a value that is read after an answered put is never older, on any of three threads: %s',
  async (server) => {
    const sse = await startSse({ server, threads: 3 })
    // Each connection belongs to one of the threads.
    const clients = await Promise.all(Array.from({ length: 24 }, () => openRawClient(sse.port)))
    for (let i = 0; i < 100; i++) {
      const [publisher] = clients.splice(i % clients.length, 1)
      publisher!.send(formatRequest('GET', `/put?v=${i}`))
      expect((await publisher!.reply()).status).toBe(200)
      clients.push(publisher!)
      for (const client of clients) client.send(formatRequest('GET', '/value'))
      for (const client of clients) expect((await client.reply()).body).toBe(String(i))
    }
  },
)
