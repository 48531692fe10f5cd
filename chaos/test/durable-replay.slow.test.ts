import { openLevel } from '@influencer-stats/runtime/level'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { DiskModel } from '../src/disk/disk-model.ts'
import { writeCrashImage, createCrashImage } from '../src/disk/power-cut.ts'
import { createRecording } from '../src/disk/trace-recording.ts'
import type { SystemCall } from '../src/disk/system-call.ts'
import { getSeconds } from '../src/write-ledger.ts'
import type { SeededRandom } from '../src/random.ts'
import { run } from '../src/service-process.ts'

const BYTES = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const
/** Choices that discard all data that was not synced. */
const NO_SURVIVAL: SeededRandom = { below: () => 0, one: (from) => from[0]!, part: () => NO_SURVIVAL }

/** Returns the keys that a power cut at a moment (seconds) loses, in either model of how the sync of a file persists names. */
async function findLostKeys(
  at: number,
  folder: string,
  calls: readonly SystemCall[],
  keys: readonly string[],
  options: Options,
) {
  const lost = new Set<string>()
  for (const names of ['journal', 'file'] as const) {
    const disk = new DiskModel(folder, new Map(), names)
    for (const call of calls) if (call.at <= at) disk.apply(call)
    const left = createTemporaryFolder()
    writeCrashImage(createCrashImage(disk, NO_SURVIVAL), folder, left)
    const db = await openLevel<Buffer, Buffer>(left, { ...options, ...BYTES })
    const found = await db.getMany(keys.map((key) => Buffer.from(key)))
    for (const [i, key] of keys.entries()) if (found[i] === undefined) lost.add(key)
    await db.close()
  }
  return [...lost]
}

type Options = { readonly service: string; readonly format: number }

it.each(['group', 'single'])(
  'a durable write whose idempotency key was used before is answered once the first one outlives a power cut: commit %s',
  async (commit) => {
    const folder = createTemporaryFolder()
    const recording = createRecording()
    const kv = await run('kv', folder, { settings: { commit }, under: recording.under })
    const send = async (method: string, query: string, key: string, body?: string, more = {}) => {
      const headers = { 'idempotency-key': `"${key}"`, ...more }
      const { status } = await fetch(`${kv.url}/v0/entity?id=${query}`, { method, body, headers })
      return { status, at: getSeconds() }
    }
    const never = { 'if-match': '*' }
    const first = [
      await send('PUT', 'k', 'put', 'value'),
      await send('PUT', 'refused', 'refused', 'value', never),
      await send('PUT', 'deleted', 'other', 'value'),
      await send('DELETE', 'other', 'delete'),
    ]
    const replays = [
      await send('PUT', 'k&durable=true', 'put', 'value'),
      await send('PUT', 'refused&durable=true', 'refused', 'value', never),
      await send('DELETE', 'other&durable=true', 'delete'),
    ]
    await kv.crash()
    const calls = await recording.calls(folder)
    recording.remove()
    expect(first.map(({ status }) => status)).toEqual([201, 412, 201, 202])
    expect(replays.map(({ status }) => status)).toEqual([201, 412, 202])
    const options = { service: 'kv', format: 3 }
    // When the first replies had arrived, all data was still in memory only.
    expect(await findLostKeys(first.at(-1)!.at, folder, calls, ['k', 'deleted'], options)).toEqual(['k', 'deleted'])
    expect(await findLostKeys(replays[0]!.at, folder, calls, ['k', 'deleted'], options)).toEqual([])
  },
)

it('a sync persists all earlier acknowledged writes, also in logs that LevelDB has yet to turn into tables', async () => {
  const folder = createTemporaryFolder()
  const module = import.meta.resolve('@influencer-stats/runtime/shared-level')
  const recording = createRecording()
  const script = `
    const { openSharedLevel } = await import(${JSON.stringify(module)})
    const options = { service: 'counter', format: 1, writeBufferSize: 65_536 }
    const level = await openSharedLevel(${JSON.stringify(folder)}, options)
    const ends = []
    for (let round = 0; round < 6; round++) {
      const keys = Array.from({ length: 70 }, (_, i) => \`\${round}/\${i}\`)
      await Promise.all(keys.map((key) => level.write((db) => db.put(key, key.padEnd(1_000, 'x')))))
      await level.sync()
      ends.push((performance.timeOrigin + performance.now()) / 1_000)
    }
    process.stdout.write(JSON.stringify(ends))
    process.exit()`
  const [command, ...args] = [...recording.under, process.execPath, '--input-type=module', '-e', script]
  const env = { ...process.env, UV_USE_IO_URING: '0' }
  const { stdout } = await promisify(execFile)(command!, args, { env })
  const calls = await recording.calls(folder)
  recording.remove()
  const keys: string[] = []
  for (const [round, at] of (JSON.parse(stdout) as number[]).entries()) {
    for (let i = 0; i < 70; i++) keys.push(`${round}/${i}`)
    expect(await findLostKeys(at, folder, calls, keys, { service: 'counter', format: 1 })).toEqual([])
  }
})
