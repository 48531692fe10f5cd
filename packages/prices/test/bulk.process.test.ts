import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createPrice, startPrices, toSearch, type TestPrices } from './support/prices.ts'

const BULK_PATH = '/v5/search/bitmap/bulk/prices'
const price = createPrice({ charValues: [{ char: 'term', value: '12' }] })
const search = toSearch(price)

let prices: TestPrices
beforeAll(async () => {
  prices = await startPrices({ data: createTemporaryFolder() })
  await prices.import([price])
})
afterAll(() => prices.stop())

it("answers the original's bodies: numeric ids, arrays, and an id in a single search", async () => {
  const texts = [1, 9_007_199_254_740_991, 'x'].map((id) => JSON.stringify({ id, ...search }))
  texts.push(texts[1]!.replace('740991', '740993'))
  for (const body of [texts.join('\n'), `[${texts.join(',\n')}]`]) {
    const reply = await prices.request('POST', BULK_PATH, body)
    const ids = String(reply.body).match(/(?<="error":\{\},"id":).*(?=\}\n)/g)
    expect(ids).toEqual(['1', '9007199254740991', '"x"', '9007199254740993'])
  }
  for (const id of [1, 1.5, 'x']) expect((await prices.search({ id, ...search })).body.id).toBe(price.id)
  for (const id of [null, true, 'x'.repeat(257)])
    expect(await prices.search({ id, ...search })).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } })
})

describe('a client that sends all items before it reads', () => {
  const ITEM_COUNT = 100_000
  const body = Buffer.from(
    Array.from({ length: ITEM_COUNT }, (_, id) => `{"id":${id},${JSON.stringify(search).slice(1)}`).join(''),
  )

  /** Sends all items, and reads nothing. */
  async function sendUnread(url: string) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1').pause()
    onTestFinished(() => void socket.destroy())
    await once(socket, 'connect')
    socket.write(
      `POST ${BULK_PATH} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${body.length}\r\n\r\n`,
    )
    const sent = new Promise((resolve) => socket.write(body, resolve))
    async function readIds(): Promise<number[]> {
      let text = ''
      for await (const chunk of socket.setEncoding('latin1')) text += chunk
      // Without the lengths of the chunks of the reply.
      const lines = text.slice(text.indexOf('\r\n\r\n')).replaceAll(/\r\n[0-9a-f]+\r\n|\r\n\r\n/g, '')
      return Array.from(lines.matchAll(/"error":\{\},"id":(\d+)\}\n/g), (match) => Number(match[1]))
    }
    return { sent, readIds }
  }
  const allIds = Array.from({ length: ITEM_COUNT }, (_, id) => id)

  it('gets all answers', async () => {
    const { sent, readIds } = await sendUnread(prices.url)
    await sent
    expect(await readIds()).toEqual(allIds)
  })

  it('waits once its answers take too much memory, and gets all of them when it reads', async () => {
    const own = await startPrices({ data: createTemporaryFolder(), clientMemoryLimit: 2_097_152, threads: 1 })
    onTestFinished(async () => void (await own.stop()))
    await own.import([price])
    const { readIds } = await sendUnread(own.url)
    const getHeldBytes = async () => {
      const { body: metrics } = await own.request('GET', '/metrics')
      return Number(/^client_memory_bytes(?:\{.*\})? (\d+)$/m.exec(String(metrics))![1])
    }
    await waitUntil(async () => (await getHeldBytes()) === 2_097_152)
    expect(await readIds()).toEqual(allIds)
    await waitUntil(async () => (await getHeldBytes()) === 0)
  })
})
