import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { startSse, type TestSse } from './support/test-sse.ts'
import { EVENT_SOURCE_HEADERS, openStream } from './support/test-stream.ts'

const CLI = fileURLToPath(new URL('../src/cli.ts', import.meta.url))

/** Runs `pnpm sse`. */
const run = (...args: string[]) =>
  promisify(execFile)(process.execPath, [CLI, ...args]).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  )

async function put(sse: TestSse, topic: string, value: string): Promise<string> {
  const reply = await fetch(`${sse.url}/put?topic=${topic}`, { method: 'POST', body: value })
  expect(reply.status).toBe(200)
  return reply.headers.get('event-id')!
}

const read = async (sse: TestSse, topic: string) => (await fetch(`${sse.url}/value?topic=${topic}`)).text()

it('moves the history to another service; old clients get a gap', async () => {
  const folder = createTemporaryFolder()
  const [here, there, file] = ['here', 'there', 'file'].map((name) => join(folder, name)) as [string, string, string]
  const settings = { history: 'level', threads: 2 }
  const first = await startSse({ ...settings, data: here })
  let lastId = ''
  for (let i = 0; i < 20; i++) lastId = await put(first, `t${i % 3}`, `${i} \u2028 line\nbreak`)
  expect(await run('export', `${file}.live`, '--url', first.url)).toMatchObject({ code: 0, stderr: '' })
  await first.stop()
  expect(await run('export', file, '--from', here)).toMatchObject({ code: 0, stderr: '' })
  const bytes = readFileSync(file)
  expect(bytes.toString()).toBe(readFileSync(`${file}.live`, 'utf8'))

  const second = await startSse({ ...settings, data: there })
  writeFileSync(`${file}.damaged`, bytes.subarray(0, -9))
  expect(await run('import', `${file}.damaged`, '--url', second.url)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('EXPORT_DAMAGED'),
  })
  for (const imported of [20, 0])
    expect(await run('import', file, '--url', second.url)).toMatchObject({
      code: 0,
      stdout: `imported ${imported} values\n`,
    })
  expect(await read(second, 't1')).toBe('19 \u2028 line\nbreak')
  expect(await run('export', `${file}.again`, '--url', second.url)).toMatchObject({ code: 0 })
  expect(readFileSync(`${file}.again`).equals(bytes)).toBe(true)

  // The id of another history: the client cannot know which values it has missed.
  const port = Number(new URL(second.url).port)
  const headers = { ...EVENT_SOURCE_HEADERS, 'last-event-id': lastId }
  const stream = await openStream(port, '?topic=t1', { headers })
  await waitUntil(() => stream.reader.events.some(({ type }) => type === 'gap'))
  // A newer value remains.
  await put(second, 't1', 'newer')
  expect(await run('import', file, '--url', second.url)).toMatchObject({ stdout: 'imported 0 values\n' })
  expect(await read(second, 't1')).toBe('newer')
  await second.stop()
})
