import { existsSync, rmSync } from 'node:fs'
import { afterAll, expect, it } from 'vitest'
import { getKvBase, createKvTarget } from '../src/targets/kv.ts'
import { drawRequests } from '../src/load/requests/drawers.ts'
import { FULL_BASE_ENTRIES, getValue } from '../src/load/requests/kv-entries.ts'
import { checkReads, checkWrites } from '../src/tables/kv.ts'

const SPEC = { service: 'kv', variant: '', settings: {} }
const ENTRIES = 1_500

// The process of a test may be killed before its clean-up at exit.
afterAll(async () => rmSync(await getKvBase(ENTRIES), { recursive: true, force: true }))

it('the key-value service uses a copy of a base and leaves the base unchanged', async () => {
  const target = createKvTarget(SPEC, ENTRIES)
  const folders: string[] = []
  const again = createKvTarget(SPEC, ENTRIES, { cacheMegabytes: '8' }, (folder) => folders.push(folder))
  const first = await target.start()
  await checkReads(ENTRIES)(first)
  await checkWrites(first)
  await fetch(`${first.url}/v0/entity?id=0`, { method: 'DELETE' })
  const second = await again.start()
  await checkReads(ENTRIES)(second)
  await expect(checkReads(ENTRIES)(first)).rejects.toThrow('404')
  await first.stop()
  await checkReads(ENTRIES)(second)
  await second.stop()
  expect(folders.map((folder) => existsSync(folder))).toEqual([false])
  expect(await getKvBase(ENTRIES)).toBe(await getKvBase(ENTRIES))
})

it('values differ from id to id, in 100 to 200 bytes', () => {
  const values = Array.from({ length: 1_000 }, (_, id) => getValue(id * 1_499))
  expect(new Set(values).size).toBe(1_000)
  const lengths = values.map(({ length }) => length)
  expect([Math.min(...lengths), Math.max(...lengths)]).toEqual([100, 200])
})

it('reads use random ids and check their values', () => {
  const [next, same] = [1, 1].map((seed) => drawRequests({ drawer: 'kv-get', seed }, 'host'))
  for (let i = 0; i < 1_000; i++) {
    const { bytes, isRight } = next!()
    expect(bytes).toEqual(same!().bytes)
    const id = Number(/^GET \/v0\/entity\?id=(\d+) HTTP\/1\.1\r\nHost: host\r\n\r\n$/.exec(String(bytes))![1])
    expect(id).toBeLessThan(FULL_BASE_ENTRIES)
    expect(isRight!(Buffer.from(getValue(id)))).toBe(true)
    expect(isRight!(Buffer.from(getValue(id + 1)))).toBe(false)
    expect(isRight!(Buffer.from(getValue(id).slice(1)))).toBe(false)
  }
})

it('random bytes are written unchanged', () => {
  const request = drawRequests({ drawer: 'kv-put-bytes', seed: 1 }, 'host')().bytes
  const head = request.indexOf('\r\n\r\n')
  const value = request.subarray(head + 4)
  expect(value.length).toBe(Number(/Content-Length: (\d+)/.exec(String(request.subarray(0, head)))![1]))
  expect(new Set(value).size).toBeGreaterThan(60)
})

it('drawn requests have the requested headers', () => {
  const next = drawRequests({ drawer: 'kv-get', headers: { accept: '*/*', 'x-y': 'z' } }, 'host')
  expect(String(next().bytes)).toMatch(/^GET \S+ HTTP\/1.1\r\nHost: host\r\naccept: \*\/\*\r\nx-y: z\r\n\r\n$/)
})

it.each([
  ['kv-put', ''],
  ['kv-put-durable', '&durable=true'],
])('%s writes ids of 3 to 10 letters and values of 100 to 200 bytes', (drawer, query) => {
  const [next, other] = [undefined, undefined].map(() => drawRequests({ drawer }, 'host'))
  const ids = new Set<string>()
  for (let i = 0; i < 1_000; i++) {
    const [head, value] = String(next!().bytes).split('\r\n\r\n')
    const [, id, given, length] = /id=([a-z]{3,10})(\S*) HTTP[^]*Content-Length: (\d+)$/.exec(head!)!
    expect([given, Number(length)]).toEqual([query, value!.length])
    expect(value).toMatch(/^[a-z]{100,200}$/)
    ids.add(id!)
  }
  expect(ids.size).toBeGreaterThan(900)
  // Both may draw the same short id.
  const others = Array.from({ length: 30 }, () => /id=([a-z]+)/.exec(String(other!().bytes))![1]!)
  expect(ids.has(others.find((id) => id.length > 5)!)).toBe(false)
})
