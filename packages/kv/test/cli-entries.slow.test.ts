import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { commands } from '../src/cli/commands.ts'
import { COMMON_FLAGS } from '../src/cli/help.ts'
import { startKv, type TestKv } from './support/kv.ts'
import { CLI_PATH, runCliWithInput, runCli, runShell } from './support/process.ts'

let kv: TestKv
beforeAll(async () => {
  kv = await startKv()
})
afterAll(() => kv.stop())

const run = (...args: string[]) => runCli(...args, '--url', kv.url)
const importLines = (input: string | Uint8Array, ...args: string[]) => runCliWithInput(input, ...args, '--url', kv.url)

it('puts, gets and deletes any bytes, from an argument, standard input or a file', async () => {
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
  const file = join(createTemporaryFolder(), 'value')
  writeFileSync(file, bytes)
  for (const [put, value] of [
    [() => run('put', 'cli', 'text é'), Buffer.from('text é')],
    [() => runCli('put', '--url', kv.url, 'cli', '--', '-x'), Buffer.from('-x')],
    [() => importLines(bytes, 'put', 'cli'), bytes],
    [() => importLines('from -', 'put', 'cli', '-'), Buffer.from('from -')],
    [() => run('put', 'cli', '--file', file, '--durable'), bytes],
    [() => importLines('', 'put', 'cli'), Buffer.alloc(0)],
  ] as const) {
    const { code, stdout } = await put()
    const received = await run('get', 'cli')
    expect([code, received.code, received.stdout.equals(value)]).toEqual([0, 0, true])
    expect((await run('get', 'cli', '--etag')).stdout.toString()).toBe(stdout.toString())
  }
  expect((await run('delete', 'cli')).code).toBe(0)
  const missing = await run('get', 'cli')
  expect([missing.code, missing.stdout.length, missing.stderr.trim().split('\n').length]).toEqual([1, 0, 1])
})

it('writes with a condition and with a time to live', async () => {
  const etag = (await run('put', 'cas', '1', '--if-none-match', '*')).stdout.toString().trim()
  const late = await run('put', 'cas', '2', '--if-none-match', '*')
  expect([late.code, late.stderr.trim().split('\n').length]).toEqual([1, 1])
  expect((await run('put', 'cas', '2', '--if-match', etag, '--ttl', '3600')).code).toBe(0)
  expect((await run('put', 'cas', '3', '--if-match', etag)).code).toBe(1)
  expect((await run('delete', 'cas', '--if-match', etag)).code).toBe(1)
  const { stdout } = await run('scan', '--prefix', 'cas')
  expect(JSON.parse(stdout.toString())).toMatchObject({ value: '2', expiresAt: expect.any(Number) })
})

it('scans ranges, keys and numbers', async () => {
  for (const id of ['s/a', 's/b', 's/c']) await kv.client.put(id, id)
  const ids = async (...args: string[]) => {
    const lines = (await run('scan', ...args)).stdout.toString().split('\n').slice(0, -1)
    return lines.map((line) => JSON.parse(line).id)
  }
  expect(await ids('--prefix', 's/')).toEqual(['s/a', 's/b', 's/c'])
  expect(await ids('--start', 's/b', '--end', 's/c')).toEqual(['s/b'])
  expect(await ids('--prefix', 's/', '--reverse', '--limit', '2')).toEqual(['s/c', 's/b'])
  expect((await run('scan', '--prefix', 's/', '--keys', '--limit', '1', '--stale')).stdout.toString()).toBe(
    '{"id":"s/a"}\n',
  )
  expect((await run('scan', '--prefix', 's/', '--count')).stdout.toString()).toBe('3\n')
})

it('watches changes, and continues after a sequence', async () => {
  async function followChanges(...args: string[]) {
    const child = spawn(process.execPath, [CLI_PATH, 'watch', '--url', kv.url, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    return { child, next: async () => JSON.parse((await lines.next()).value ?? 'null') }
  }
  const first = await followChanges('--prefix', 'w/')
  // The stream shows no change until it is open. The test repeats the write until one arrives.
  const seen = first.next()
  let isSeen = false
  void seen.then(() => (isSeen = true))
  for (let i = 0; !isSeen; i++) {
    await kv.client.put('w/a', 'é')
    await new Promise((resolve) => setTimeout(resolve, Math.min(20 * i, 200)))
  }
  const { sequence, ...change } = await seen
  expect(change).toEqual({ op: 'put', id: 'w/a', value: 'é' })
  await kv.client.put('other', '')
  await kv.client.delete('w/a')
  const later = await followChanges('--start', 'w/', '--after', String(sequence))
  let one = await later.next()
  while (one.op !== 'delete') one = await later.next()
  expect(one).toEqual({ op: 'delete', id: 'w/a', sequence: expect.any(Number) })
  for (const { child } of [first, later]) {
    child.kill('SIGINT')
    expect((await once(child, 'exit'))[1]).toBe('SIGINT')
  }
})

it('exits quietly after the reader of its output has ended', async () => {
  await kv.client.batch(
    Array.from({ length: 20_000 }, (_, i) => ({ op: 'put', id: `pipe/${i}`, value: 'x'.repeat(100) })),
  )
  const env = { URL: kv.url }
  for (const command of ['export - 2> /dev/null', 'scan --prefix pipe/', 'export /dev/stdout 2> /dev/null']) {
    const { stdout, stderr, code } = await runShell(
      `kv ${command} --url "$URL" | head -n 2; exit \${PIPESTATUS[0]}`,
      env,
    )
    expect([command, stdout.toString().split('\n').length, stderr, code]).toEqual([command, 3, '', 141])
  }
})

it('refuses wrong usage with status 2 and one line', async () => {
  for (const args of [
    [],
    ['none'],
    ['get'],
    ['get', 'a', 'b'],
    ['get', 'a', '--nope'],
    ['put', 'a', 'b', '--file', 'c'],
    ['put', 'a', 'b', '--ttl', 'x'],
    ['put', 'a', 'b', '--if-none-match', '"x"'],
    ['scan', '--prefix', 'a', '--start', 'b'],
    ['scan', '--limit', '-1'],
    ['watch', 'a'],
    ['get', 'a', '--url', 'nonsense'],
  ]) {
    const { code, stdout, stderr } = await runCli(...args)
    expect([args, code, stdout.length, stderr.trim().split('\n').length]).toEqual([args, 2, 0, 1])
  }
})

it('describes each command and flag in less than 70 characters', async () => {
  const help = await runCli('--help')
  expect(help.code).toBe(0)
  for (const { name, description, flags = {} } of commands) {
    expect(help.stdout.toString()).toContain(description)
    const own = await runCli(name, '--help')
    expect(own.code).toBe(0)
    for (const [flag, { description: text }] of Object.entries({ ...flags, ...COMMON_FLAGS })) {
      expect(own.stdout.toString()).toContain(`--${flag}`)
      expect(text.length).toBeLessThan(70)
    }
    expect(description.length).toBeLessThan(70)
  }
})

it('exports the folder of a stopped service as the running service does, and not of a running one', async () => {
  const data = createTemporaryFolder()
  const own = await startKv({ data })
  await own.client.put('a', Buffer.from([0xff, 0xfe]))
  await own.client.put('b', 'text')
  await own.client.put('c', 'soon', { ttl: 3_600 })
  const [live, stopped] = ['live', 'stopped'].map((name) => join(createTemporaryFolder(), name)) as [string, string]
  expect((await runCli('export', live, '--url', own.url)).code).toBe(0)
  const refused = await runCli('export', stopped, '--from', data)
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('in use by another process')])
  await own.stop()
  expect((await runCli('export', stopped, '--from', data)).code).toBe(0)
  expect(readFileSync(stopped, 'utf8')).toBe(readFileSync(live, 'utf8'))
  expect((await runCli('export', stopped, '--from', join(data, 'none'))).code).toBe(1)
})

it('stops writes with an export, over a restart, until they are allowed', async () => {
  const data = createTemporaryFolder()
  let own = await startKv({ data, threads: 2 })
  const file = join(createTemporaryFolder(), 'file')
  const acknowledged: string[] = []
  const refusals: string[] = []
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    for (let i = 0; refusals.length < 8; i++) {
      const id = `${writer}/${i}`
      const done = await own.client.put(id, 'x').then(
        () => acknowledged.push(id),
        (error: { code: string }) => void refusals.push(error.code),
      )
      if (done === undefined) break
    }
  })
  await waitUntil(() => acknowledged.length > 50)
  expect((await runCli('export', file, '--stop-writes', '--url', own.url)).code).toBe(0)
  await Promise.all(writers)
  expect(new Set(refusals)).toEqual(new Set(['WRITES_STOPPED']))
  const exported = readFileSync(file, 'utf8').split('\n').slice(0, -1)
  expect(exported.map((line) => JSON.parse(line).id).toSorted()).toEqual(acknowledged.toSorted())
  await own.stop()
  own = await startKv({ data })
  expect((await fetch(`${own.url}/readyz`)).status).toBe(200)
  for (const write of [() => own.client.put('a', '1'), () => own.client.delete(acknowledged[0]!)])
    await expect(write()).rejects.toMatchObject({ code: 'WRITES_STOPPED', status: 503 })
  expect(await own.client.get(acknowledged[0]!)).toBeDefined()
  expect((await runCli('allow-writes', '--url', own.url)).code).toBe(0)
  await own.client.put('a', '1')
  await own.stop()
})
