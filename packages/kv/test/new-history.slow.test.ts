import type { Overrides } from '@influencer-stats/runtime/embed'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createFirstRevision } from '../src/core/stored-value.ts'
import { startKv, type TestKv } from './support/kv.ts'

const RESTORE = fileURLToPath(new URL('../../../scripts/restore.ts', import.meta.url))
const KEYS = ['a', 'b', 'c']
const entity = (id: string) => `/v0/entity?id=${id}`
const parseRevision = (tag: string) => Buffer.from(tag.slice(1, -1), 'base64url').readUIntBE(0, 6)
const copy = (from: string, to: string) => cpSync(from, to, { recursive: true, preserveTimestamps: true })

/** Only value that a tag may identify, by key and tag. */
type SeenTags = Map<string, string>

function recordSeen(seen: SeenTags, key: string, tag: string, value: string): void {
  const name = `${key} ${tag}`
  expect(seen.get(name) ?? value).toBe(value)
  seen.set(name, value)
}

async function write(kv: TestKv, seen: SeenTags, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const key = KEYS[i % KEYS.length]!
    const value = `value ${seen.size}`
    recordSeen(seen, key, await kv.client.put(key, value), value)
  }
}

async function read(kv: TestKv, seen: SeenTags): Promise<void> {
  for (const key of KEYS) {
    const { headers, text } = await kv.request('GET', entity(key))
    recordSeen(seen, key, headers.get('etag')!, text)
  }
}

/** Sends conditional requests with each recorded tag. */
async function retry(kv: TestKv, seen: SeenTags): Promise<void> {
  for (const [name, value] of seen) {
    const [key, tag] = name.split(' ') as [string, string]
    const isCurrent = (await kv.request('GET', entity(key))).text === value
    const { status } = await kv.request('GET', entity(key), undefined, { 'if-none-match': tag })
    expect(status).toBe(isCurrent ? 304 : 200)
    if (isCurrent) continue
    const put = await kv.request('PUT', entity(key), 'lost update', { 'if-match': tag })
    expect(put.code).toBe('CONDITION_FAILED')
  }
}

/** Checks that watchers at any sequence of the old histories, or a little after it, get 410. */
async function expectUnknown(kv: TestKv, seen: SeenTags): Promise<void> {
  const own = (await kv.client.watch()[Symbol.asyncIterator]().next()).value!.sequence
  for (const name of seen.keys()) {
    const after = parseRevision(name.split(' ')[1]!)
    expect(Math.abs(after - own)).toBeGreaterThan(2 ** 43)
    for (const nearby of [after, after + 1, after + 2 ** 20])
      expect((await kv.request('GET', `/v0/watch?start=a&after=${nearby}`)).code).toBe('SEQUENCE_EXPIRED')
  }
}

type RestoreMethod = (copies: { backup: string; copied: string; data: string }) => string

const ways: [name: string, putBack: RestoreMethod][] = [
  [
    'restored of a backup',
    ({ backup, data }) => {
      rmSync(data, { recursive: true })
      const { status, stderr } = spawnSync(process.execPath, [RESTORE, backup, 'kv', '--data', join(data, '..')], {
        encoding: 'utf8',
      })
      expect({ status, stderr }).toMatchObject({ status: 0 })
      return data
    },
  ],
  ['copied to another place', ({ copied, data }) => (copy(copied, `${data}.2`), `${data}.2`)],
  [
    'copied over what is there',
    ({ copied, data }) => {
      rmSync(join(data, 'level'), { recursive: true })
      copy(copied, data)
      return data
    },
  ],
  [
    'put in its place by a move',
    ({ copied, data }) => {
      renameSync(data, `${data}.old`)
      renameSync(copied, data)
      return data
    },
  ],
]

const settings: Overrides[] = [{ threads: 1 }, { threads: 2, commit: 'single', server: 'fastify' }]

it.each(ways.flatMap(([name, restoreData]) => settings.map((one) => [name, one, restoreData] as const)))(
  'no tag identifies two values if a folder is %s (%j)',
  async (_, options, restoreData) => {
    const folder = createTemporaryFolder()
    // `pnpm restore kv --data` writes to this folder.
    const data = join(folder, 'kv')
    const copies = { data, backup: join(folder, 'backup'), copied: join(folder, 'copied') }
    const seen: SeenTags = new Map()
    let kv = await startKv({ data, ...options })
    await write(kv, seen, 20)
    mkdirSync(copies.backup)
    await writeFile(
      join(copies.backup, 'kv.backup'),
      Buffer.from(await (await fetch(`${kv.url}/backup`)).arrayBuffer()),
    )
    await kv.stop()
    copy(data, copies.copied)

    kv = await startKv({ data, ...options })
    await write(kv, seen, 20)
    await kv.stop()

    kv = await startKv({ data: restoreData(copies), ...options })
    await read(kv, seen)
    await expectUnknown(kv, seen)
    await write(kv, seen, 40)
    await retry(kv, seen)
    await kv.stop()
  },
)

it('revisions continue over restarts and moves of the folder', async () => {
  const folder = createTemporaryFolder()
  let data = join(folder, 'data')
  let last = 0
  for (let life = 0; life < 4; life++) {
    const kv = await startKv({ data })
    const number = parseRevision(await kv.client.put('k', String(life)))
    await kv.stop()
    if (life > 0) {
      expect(number).toBeGreaterThan(last)
      expect(number - last).toBeLessThan(2 ** 21)
    }
    last = number
    if (life === 1) renameSync(data, (data = join(folder, 'moved')))
  }
})

it('a new history begins far from any revision of the previous one', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 48 - 1 }), (last) => {
      const first = createFirstRevision(last)
      expect(first).toBeGreaterThanOrEqual(0)
      expect(first).toBeLessThan(2 ** 47)
      expect(Math.abs(first - last)).toBeGreaterThanOrEqual(2 ** 44)
    }),
    { numRuns: 10_000 },
  )
})
