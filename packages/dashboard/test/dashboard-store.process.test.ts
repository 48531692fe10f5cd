import { StartError } from '@influencer-stats/runtime/errors'
import { openLevel } from '@influencer-stats/runtime/level'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { START_SCRIPT, spawnStart } from '@influencer-stats/runtime/testing/spawn-start'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DashboardStore } from '../src/dashboard-store.ts'
import { UNREACHABLE_URL } from './support/fake-service.ts'

interface LogLine {
  readonly level: string
  readonly message: string
}

function createLog() {
  const lines: LogLine[] = []
  const at = (level: string) => (first: unknown, second?: unknown) =>
    void lines.push({ level, message: String(second ?? first) })
  return { lines, log: { info: at('info'), warn: at('warn'), error: at('error') } as never }
}

/** Opens and closes the store. @returns the key and the log */
async function openOnce(folder: string, use?: (store: DashboardStore) => Promise<unknown>) {
  const { lines, log } = createLog()
  const store = await DashboardStore.open(folder, log)
  const { key } = store
  await use?.(store)
  await store.close()
  return { key, lines }
}

/** Changes rows like damage, or like a repair that lost some rows. */
async function edit(folder: string, rows: Readonly<Record<string, string | undefined>>): Promise<void> {
  const db = await openLevel(folder, { service: 'dashboard', format: 1 })
  for (const [key, value] of Object.entries(rows)) await (value === undefined ? db.del(key) : db.put(key, value))
  await db.close()
}

const addLink = (store: DashboardStore) => store.addLink({ campaign: 'mine', birth: '' }, 1)

describe('the key that signs sessions and links', () => {
  it("is made once, silently in a new folder, and the folder is the owner's alone", async () => {
    const folder = join(createTemporaryFolder(), 'dashboard')
    const { key, lines } = await openOnce(folder)
    expect(key).toMatch(/^[0-9a-f]{64}$/)
    expect(lines).toEqual([])
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect((await openOnce(folder)).key).toBe(key)
  })

  it.each([
    ['is empty', { key: '' }],
    ['is short', { key: 'ab' }],
    ['is another one', { key: 'a'.repeat(64) }],
    ['is missing', { key: undefined }],
    ['is missing, and so is its digest', { key: undefined, 'key-digest': undefined }],
  ])('is never replaced: a start is refused if it %s', async (_how, rows) => {
    const folder = createTemporaryFolder()
    const { key } = await openOnce(folder, addLink)
    await edit(folder, rows)
    const fault = await openOnce(folder).catch((error: unknown) => error as StartError)
    expect(fault).toBeInstanceOf(StartError)
    expect((fault as StartError).code).toBe('KEY_DAMAGED')
    expect((fault as StartError).message).toMatch(/pnpm restore/)
    // The store is unchanged, and the message does not contain the key.
    expect((fault as StartError).message).not.toContain(key)
    await expect(openOnce(folder)).rejects.toThrow(StartError)
    await edit(folder, { key })
    expect((await openOnce(folder)).key).toBe(key)
  })

  it('is checked by its digest from the first start of this version on', async () => {
    const folder = createTemporaryFolder()
    const { key } = await openOnce(folder, addLink)
    await edit(folder, { 'key-digest': undefined })
    expect((await openOnce(folder)).key).toBe(key)
    await edit(folder, { key: 'b'.repeat(64) })
    await expect(openOnce(folder)).rejects.toThrow(StartError)
  })

  it('is reported as missing if a used folder has neither a key nor links', async () => {
    const folder = createTemporaryFolder()
    const { key } = await openOnce(folder)
    await edit(folder, { key: undefined, 'key-digest': undefined })
    const again = await openOnce(folder)
    expect(again.key).not.toBe(key)
    expect(again.lines).toEqual([{ level: 'warn', message: expect.stringMatching(/new key.*sessions/) }])
  })
})

describe('a damaged link', () => {
  it.each([
    ['is no JSON', '{"id":"a","campaign":"mi'],
    ['is no object', 'null'],
    ['has no campaign', '{"id":"a","created":1,"expires":2}'],
    ['has another id than its key', '{"id":"b","campaign":"mine","created":1,"expires":2}'],
    ['expires at no time', '{"id":"a","campaign":"mine","created":1,"expires":"later"}'],
  ])('refuses the start and changes nothing if it %s', async (_how, text) => {
    const folder = createTemporaryFolder()
    await openOnce(folder, addLink)
    await edit(folder, { 'links/a': text })
    const fault = await openOnce(folder).catch((error: unknown) => error as StartError)
    expect(fault).toBeInstanceOf(StartError)
    expect(fault).toMatchObject({ code: 'DATA_DAMAGED', message: expect.stringContaining(folder) })
    expect((fault as StartError).message).toMatch(/links\/a.*pnpm restore/)
    expect((fault as StartError).message).not.toMatch(/\n/)
    await edit(folder, { 'links/a': undefined })
    await openOnce(folder, async ({ links }) => expect(links).toHaveLength(1))
  })

  it('ends the start with one line and status 1', async () => {
    const data = createTemporaryFolder()
    const folder = join(data, 'dashboard')
    await openOnce(folder, addLink)
    await edit(folder, { 'links/a': '{' })
    const settings = {
      data,
      statsUri: UNREACHABLE_URL,
      sseUri: UNREACHABLE_URL,
      pricesUri: UNREACHABLE_URL,
      kvUri: UNREACHABLE_URL,
      port: 0,
    }
    const args = Object.entries(settings).map(([name, value]) => `--${name}=${value}`)
    const started = spawnStart(['dashboard', ...args], {}, { script: START_SCRIPT })
    expect(await started.exit).toMatchObject({ code: 1 })
    const lines = started.stderr.trim().split('\n')
    expect(lines.filter((line) => line.includes(folder))).toHaveLength(1)
    expect(started.stderr).not.toMatch(/^\s+at /m)
  })
})
