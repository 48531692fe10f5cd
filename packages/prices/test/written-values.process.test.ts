import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { expect, it } from 'vitest'
import { INDEXES } from './support/available-indexes.ts'
import { createPrice, startPrices, toSearch, type TestPrices } from './support/prices.ts'

// The values and ids of prices reach clients as they were written, on every way in and out.

const VALUES = [
  '1.10',
  '9007199254740993',
  '-0',
  '1E3',
  '0.1234567890123456789012345678901234',
  '12',
  '1.5',
  '9.90',
  '1e-7',
]
const IDS = ['a', 'Ü/?#%', '価格 1', '{"value":7}', 'ffffffff-ffff-ffff-ffff-ffffffffffff', '5']

/** The text of a reply, because JSON.parse rounds values. */
async function readText({ url }: TestPrices, path: string, init?: RequestInit): Promise<string> {
  return (await fetch(url + path, { ...init, headers: { 'content-type': 'application/json' } })).text()
}

for (const server of ['raw', 'node-http', 'fastify'] as const)
  it(`values and ids are returned as they were written (${server})`, async () => {
    const data = createTemporaryFolder()
    const prices = await startPrices({ data, server, indexes: INDEXES.join(), threads: 1 })
    const bodies = VALUES.map((value, i) => {
      const { id: _id, value: _value, ...rest } = createPrice({ charValues: [{ char: 'n', value: i }] })
      return { value, path: `/prices/${encodeURIComponent(IDS[i % IDS.length]! + i)}`, rest }
    })
    for (const [i, { value, path, rest }] of bodies.entries()) {
      // A client may send a number or a text.
      const text = JSON.stringify({ ...rest, value: 'V' }).replace('"V"', i % 2 === 0 ? value : `"${value}"`)
      expect(await readText(prices, path, { method: 'PUT', body: text })).toContain(`"value":${value},`)
      expect(await readText(prices, path)).toContain(`"value":${value},`)
      const search = { method: 'POST', body: JSON.stringify(toSearch(rest as never)) }
      const id = JSON.stringify(IDS[i % IDS.length]! + i)
      for (const index of INDEXES) {
        const answer = `{"id":${id},"spec":"MRC","value":${value},"currency":"USD"}`
        expect(await readText(prices, `/v1/search/${index}/prices`, search)).toBe(answer)
        expect(await readText(prices, `/v1/search/${index}/prices?all=true`, search)).toBe(`${answer}\n`)
      }
    }
    const exported = await readText(prices, '/prices')
    for (const { value } of bodies) expect(exported).toContain(`"value":${value},`)
    expect((await prices.import([exported.trim()], '?replace=true')).body).toEqual({ imported: 9, prices: 9 })
    expect(await readText(prices, '/prices')).toBe(exported)
    expect((await prices.import([exported.trim()])).body).toEqual({ imported: 9, prices: 9 })
    await prices.stop()
    const reopened = await startPrices({ data, server, indexes: INDEXES.join(), threads: 1 })
    expect(await readText(reopened, '/prices')).toBe(exported)
    const ids = exported
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).id)
    for (const [i, id] of ids.entries())
      expect(await readText(reopened, `/prices?after=${encodeURIComponent(id)}`)).toBe(
        exported
          .split('\n')
          .slice(i + 1)
          .join('\n'),
      )
    expect((await reopened.request('DELETE', `/prices/${encodeURIComponent(ids[0])}`)).status).toBe(204)
    expect((await reopened.request('GET', `/prices/${encodeURIComponent(ids[0])}`)).status).toBe(404)
    await reopened.stop()
  })

it('a value or an id that cannot be stored is refused', async () => {
  const prices = await startPrices({ data: createTemporaryFolder(), threads: 1 })
  const { id, value: _value, ...rest } = createPrice()
  for (const value of ['1e999', '1e-999', '12345678901234567890123456789012345', '"1,5"', '"0x10"', '""', '" 1"']) {
    const text = JSON.stringify({ ...rest, value: 'V' }).replace('"V"', value)
    const detail = expect.stringMatching(/value must be a decimal of at most 34 digits/)
    expect(await prices.request('PUT', `/prices/${id}`, text)).toMatchObject({
      status: 400,
      body: { code: 'VALUE_NOT_STORABLE', detail },
    })
    expect(await prices.import([`${text.slice(0, -1)},"id":"x"}`])).toMatchObject({
      status: 400,
      body: { code: 'BAD_LINE', detail: expect.stringContaining('line 1: VALUE_NOT_STORABLE') },
    })
  }
  for (const long of ['é'.repeat(65), 'a'.repeat(129), 'a\nb'])
    for (const reply of [
      await prices.request('PUT', `/prices/${encodeURIComponent(long)}`, { ...rest, value: 1 }),
      await prices.import([{ ...rest, id: long, value: 1 }]),
    ])
      expect([reply.status, reply.body.detail]).toEqual([400, expect.stringMatching(/id must be/)])
  expect((await prices.request('GET', '/prices')).body).toBe('')
  await prices.stop()
})
