import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { exportToFile } from '../src/cli/commands/export.ts'
import { startKv, type TestKv } from './support/kv.ts'
import { runCliWithInput, runCli, runShell } from './support/process.ts'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'

let kv: TestKv
let file: string
beforeEach(async () => {
  kv = await startKv()
  file = join(createTemporaryFolder(), 'entries.ndjson')
})
afterEach(() => kv.stop())

it('exports every entry, and imports them again', async () => {
  const entries = Array.from({ length: 3_000 }, (_, i) => ({ id: `k${i}`, value: Buffer.alloc(500, i) }))
  for (let i = 0; i < entries.length; i += 1_000)
    await kv.client.batch(entries.slice(i, i + 1_000).map((entry) => ({ op: 'put', ...entry })))
  expect((await runCli('export', file, '--url', kv.url)).code).toBe(0)
  const other = await startKv()
  const imported = await runCli('import', file, '--url', other.url)
  expect(imported).toMatchObject({ code: 0, stderr: expect.stringContaining('3000') })
  const found = new Map<string, Buffer>()
  for await (const { id, value } of other.client.entries()) found.set(id, value)
  expect(found.size).toBe(entries.length)
  for (const { id, value } of entries) expect(found.get(id)).toEqual(value)
  await other.stop()
  expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(3_001)
})

it('exports everything that any node has acknowledged', async () => {
  const ranges: unknown[] = []
  const client = {
    async streamEntryLines(range: unknown) {
      ranges.push(range)
      return Readable.from([])
    },
  }
  await exportToFile(client as never, file, { update() {}, end() {} })
  expect(ranges).toEqual([{ linearizable: true }])
})

it('reports the number of an invalid line', async () => {
  const line = '{"op":"put","id":"a","value":"1"}'
  writeFileSync(file, `${line}\n\n${line}\n{"op":"put"}\n`)
  const { code, stderr } = await runCli('import', file, '--url', kv.url)
  expect(code).toBe(1)
  expect(stderr).toContain('line 4 ')
  writeFileSync(file, `${line}\n\n{"op":"put","id":"${'x'.repeat(1025)}","value":""}\n`)
  const badLines = await runCli('import', file, '--url', kv.url)
  expect(badLines.code).toBe(1)
  expect(badLines.stderr).toContain('line 3')
})

it('imports an export of values of 6 MB, of which some are six times as long as text', async () => {
  const values = [Buffer.alloc(6_000_000), Buffer.from('"\\\n'.repeat(1_000)), Buffer.from('ключ\n'.repeat(1_000))]
  for (const [i, value] of values.entries()) await kv.client.put(`k${i}`, value)
  expect((await runCli('export', file, '--url', kv.url)).code).toBe(0)
  for (let i = 0; i < values.length; i++) await kv.client.delete(`k${i}`)
  expect(await runCli('import', file, '--url', kv.url)).toMatchObject({ code: 0 })
  for (const [i, value] of values.entries()) expect((await kv.client.get(`k${i}`))!.value.equals(value)).toBe(true)
})

it('reports the numbers of the lines that the service refuses', async () => {
  const small = await startKv({ valueLimit: 10, batchLimit: 5_000 })
  const line = '{"op":"put","id":"a","value":"1"}'
  const long = JSON.stringify({ op: 'put', id: 'b', value: 'x'.repeat(11) })
  for (const [lines, where] of [
    [[line, '', line, long, line], 'line 4 of'],
    [['', JSON.stringify({ op: 'put', id: 'b', value: 'x'.repeat(5_000) })], 'line 2 of'],
    [['', ...Array.from({ length: 200 }, () => line)], 'lines 2 to 201 of'],
  ] as const) {
    writeFileSync(file, lines.join('\n'))
    const { code, stderr } = await runCli('import', file, '--url', small.url)
    expect(code).toBe(1)
    expect(stderr).toContain(where)
  }
  await small.stop()
})

it('reports an error in one line, without a stack', async () => {
  expect((await runCli('export', file, '--url', 'http://127.0.0.1:9')).code).toBe(1)
  expect((await runCli('import', join(file, 'none'), '--url', kv.url)).stderr.trim().split('\n')).toHaveLength(1)
  expect((await runCli('none', file)).code).toBe(2)
})

it('writes to standard output, and reads from standard input', async () => {
  await kv.client.batch(Array.from({ length: 3 }, (_, i) => ({ op: 'put', id: `k${i}`, value: 'é\u2028' })))
  const { code, stdout } = await runCli('export', '-', '--url', kv.url)
  expect([code, stdout.toString().split('\n').length]).toEqual([0, 4])
  const other = await startKv()
  expect((await runCliWithInput(stdout, 'import', '-', '--url', other.url)).code).toBe(0)
  expect(await Array.fromAsync(other.client.keys())).toEqual(['k0', 'k1', 'k2'])
  const wrong = await runCliWithInput('{}\n', 'import', '-', '--url', other.url)
  expect([wrong.code, wrong.stderr.includes('line 1 of standard input')]).toEqual([1, true])
  await other.stop()
})

it('writes to a FIFO, a device or an open file without a replacement of it', async () => {
  await kv.client.put('k', 'v')
  const line = '{"op":"put","id":"k","value":"v"}\n'
  const folder = createTemporaryFolder()
  const env = { URL: kv.url }
  const script = `
    cd ${folder} && mkfifo fifo link-to && rm link-to && ln -s fifo link
    for to in fifo link; do
      cat fifo > $to.read & kv export $to --url "$URL" 2> err || cat err >&2
      wait $!; [ -p fifo ] && [ -L link ] || echo replaced
    done
    cat fifo.read link.read
    kv export /dev/null --url "$URL" 2> err || cat err >&2; [ -c /dev/null ] || echo replaced
    echo before > out
    kv export /dev/stdout --url "$URL" >> out 2> err; echo after >> out; cat out
    kv export /dev/fd/3 --url "$URL" 3> three 2> err; cat three
    kv export >(cat > four) --url "$URL" 2> err; wait; cat four
    cat three > fifo & kv import fifo --url "$URL" 2> err || cat err >&2
    ls`
  const { stdout, stderr, code } = await runShell(script, env)
  expect(stdout.toString()).toBe(
    `${line}${line}before\n${line}after\n${line}${line}err\nfifo\nfifo.read\nfour\nlink\nlink.read\nout\nthree\n`,
  )
  expect([stderr, code]).toEqual(['', 0])
})

it('replaces the whole target of a symbolic link, and preserves the link', async () => {
  await kv.client.put('k', 'v')
  const folder = createTemporaryFolder()
  mkdirSync(join(folder, 'real'))
  const real = join(folder, 'real', 'entries')
  for (const isThere of [true, false]) {
    if (isThere) writeFileSync(real, 'old', { mode: 0o600 })
    else rmSync(real)
    rmSync(file, { force: true })
    symlinkSync(relative(dirname(file), real), file)
    expect((await runCli('export', file, '--url', kv.url)).code).toBe(0)
    expect([lstatSync(file).isSymbolicLink(), readFileSync(real, 'utf8')]).toEqual([
      true,
      '{"op":"put","id":"k","value":"v"}\n',
    ])
    if (isThere) expect(lstatSync(real).mode & 0o777).toBe(0o600)
    expect(readdirSync(join(folder, 'real'))).toEqual(['entries'])
  }
})
