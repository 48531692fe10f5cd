import { deleteStream, startTestNatsServer } from '@influencer-stats/log/testing/nats'
import { readBackup, type BackupHead } from '@influencer-stats/runtime/backup-format'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { start } from './support/cluster-nodes.ts'
import type { TestKv } from './support/kv.ts'

const SCRIPTS = fileURLToPath(new URL('../../../scripts/', import.meta.url))

/** Runs `pnpm backup` or `pnpm restore`. */
const run = (script: 'backup' | 'restore', ...args: string[]) =>
  new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, [`${SCRIPTS}${script}.ts`, ...args], (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    )
  })

async function startNode() {
  const server = await startTestNatsServer()
  return { server, kv: await start({ cluster: server.url, natsReplicas: 1, natsStream: 'kv' }) }
}

/** Reads the backup of a node. */
async function readNodeBackup({ url }: TestKv) {
  const reply = await fetch(`${url}/backup`)
  expect(reply.status).toBe(200)
  let head: BackupHead | undefined
  const chunks: Buffer[] = []
  await readBackup(Readable.fromWeb(reply.body as never), {
    onHead: (found) => void (head = found),
    onEntry: (key, value) => (expect(key.length).toBe(0), void chunks.push(value)),
  })
  return { head: head!, snapshot: Buffer.concat(chunks) }
}

it('a backup of a node is a snapshot at the position in its first line, while clients write', async () => {
  const { kv } = await startNode()
  expect((await kv.request('GET', '/backup')).code).toBe('NO_DATA')
  let written = 0
  let isWriting = true
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    for (let i = 0; isWriting; i++) {
      await kv.client.batch([
        { op: 'put', id: `${writer}`, value: `${i}` },
        { op: 'put', id: `${writer}/${i % 500}`, value: 'x'.repeat(2_000) },
      ])
      written++
    }
  })
  await waitUntil(() => written > 100)
  for (let i = 0; i < 10; i++) {
    const { head, snapshot } = await readNodeBackup(kv)
    // The last entry of the snapshot is its position.
    const row = JSON.parse(snapshot.subarray(snapshot.lastIndexOf('{"position"')).toString())
    const { epoch, seq, check } = row.position
    expect(head).toEqual({ backup: 2, service: 'kv', position: { epoch, seq, check } })
  }
  isWriting = false
  await Promise.all(writers)
  const ends = (await Promise.all([readNodeBackup(kv), readNodeBackup(kv)])).map(({ snapshot }) => snapshot)
  expect(ends[0]!.equals(ends[1]!)).toBe(true)
})

it('pnpm backup saves a node without its log, and pnpm restore names the command that restores it', async () => {
  const { server, kv } = await startNode()
  await kv.client.put('a', 'b')
  await deleteStream(server.url, 'kv')
  await waitUntil(async () => (await kv.request('GET', '/readyz?for=writes')).status === 503)
  const folder = createTemporaryFolder()
  const port = ['--kv.port', new URL(kv.url).port]
  for (let i = 0; i < 3; i++) {
    const saved = await run('backup', folder, 'kv', '--keep', '2', ...port)
    expect(saved).toMatchObject({ code: 0, stderr: '' })
    expect(saved.stdout).toMatch(/^kv: cluster up to sequence 1 as of \S+, sha256 \w{64}\n/)
  }
  const folders = readdirSync(folder)
  expect(folders.length).toBe(2)
  const file = join(folder, folders[0]!, 'kv.backup')
  expect(await run('backup', 'verify', file)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/: kv, cluster up to sequence 1 as of /),
  })
  const data = join(folder, 'data')
  expect(await run('restore', join(folder, folders[0]!), '--data', data)).toEqual({
    code: 1,
    stdout: '',
    stderr: `kv: ${file} is a backup of a cluster: restore it with \`pnpm cluster rescue kv --from ${file} --cluster nats://HOST:4222\`\n`,
  })
})
