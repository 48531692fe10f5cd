import { START_SCRIPT, spawnStart, type SpawnedStart } from '@influencer-stats/runtime/testing/spawn-start'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { execFile, spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const SCRIPTS = fileURLToPath(new URL('../../scripts/', import.meta.url))
const TOKEN = 'hunter2hunter2'
const SERVICES = ['dashboard', 'stats', 'sse', 'youtube'] as const
const VIDEO = '1FEFpk-uIYo'

type Urls = Record<(typeof SERVICES)[number], string>

async function start(data: string): Promise<{ started: SpawnedStart; urls: Urls; ports: string[] }> {
  const args = ['--port', '0', '--data', data, '--log-level', 'info', '--dashboard.demo', 'off']
  const started = spawnStart([...SERVICES, ...args], { API_TOKEN: TOKEN }, { script: START_SCRIPT })
  const rows = await started.waitUntilReady()
  const urls = Object.fromEntries(SERVICES.map((name) => [name, rows[name]!.url])) as Urls
  return {
    started,
    urls,
    ports: [`--dashboard.port`, `--stats.port`].flatMap((flag, i) => [flag, String(rows[SERVICES[i]!]!.port)]),
  }
}

async function run(script: 'backup' | 'restore', ...args: string[]) {
  const env = { ...process.env, API_TOKEN: TOKEN }
  return promisify(execFile)(process.execPath, [`${SCRIPTS}${script}.ts`, ...args], { env })
}

async function send(url: string, method: string, body: object): Promise<Response> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
  const reply = await fetch(url, { method, headers, body: JSON.stringify(body) })
  if (!reply.ok) throw new Error(`${method} ${url}: ${reply.status} ${await reply.text()}`)
  return reply
}

const modeOf = (file: string) => statSync(file).mode & 0o777

test('a share link and an open session survive a backup, another machine and a restore', async () => {
  const folder = createTemporaryFolder()
  const [files, here, there] = ['files', 'here', 'there'].map((name) => join(folder, name)) as [string, string, string]
  const first = await start(here)
  await send(`${first.urls.stats}/collections/mine`, 'PUT', { videos: [VIDEO], name: 'Mine' })
  const signedIn = await send(`${first.urls.dashboard}/session`, 'POST', { token: TOKEN })
  const cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!
  const link: any = await (await send(`${first.urls.dashboard}/links`, 'POST', { campaign: 'mine' })).json()
  const revoked: any = await (await send(`${first.urls.dashboard}/links`, 'POST', { campaign: 'mine' })).json()
  await send(`${first.urls.dashboard}/links/${revoked.id}`, 'DELETE', {})

  const backup = await run('backup', files, 'dashboard', 'stats', ...first.ports)
  expect(backup.stdout).toMatch(/^dashboard: \d+ entries as of /m)
  // Each file contains all data of a service; that of the dashboard contains the key that signs sessions.
  expect(modeOf(join(files, 'dashboard.backup'))).toBe(0o600)
  expect((await first.started.stop()).code).toBe(0)
  expect(first.started.stdout + first.started.stderr).not.toContain(link.path.split('/').at(-1))

  await run('restore', files, '--data', there)
  expect(modeOf(join(there, 'dashboard'))).toBe(0o700)
  const second = await start(there)
  const campaign = await fetch(`${second.urls.dashboard}${link.path}/campaign`)
  expect([campaign.status, await campaign.json()]).toMatchObject([200, { id: 'mine', name: 'Mine' }])
  expect((await fetch(`${second.urls.dashboard}${revoked.path}/campaign`)).status).toBe(410)
  const session: any = await (await fetch(`${second.urls.dashboard}/session`, { headers: { cookie } })).json()
  expect(session.role).toBe('editor')
  expect((await second.started.stop()).code).toBe(0)
})

test('wrong usage is one line or the usage, never a stack trace', async () => {
  const folder = createTemporaryFolder()
  const run = (script: 'backup' | 'restore', ...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [`${SCRIPTS}${script}.ts`, ...args])
    return { status, stdout: String(stdout), stderr: String(stderr) }
  }
  expect(run('backup', '--help')).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/signing\s+key/),
    stderr: '',
  })
  expect(run('backup')).toMatchObject({ status: 2, stderr: expect.stringContaining('pnpm backup DIR') })
  const lines: [string[], string][] = [
    [[folder, 'nonsense'], 'unknown service: nonsense; known: dashboard, stats, kv, sse, prices, youtube\n'],
    [[join(folder, 'none')], `folder ${join(folder, 'none')} does not exist\n`],
    [[folder, 'kv', '--port', 'x'], expect.stringMatching(/^[^\n]*port[^\n]*\n$/)],
  ]
  for (const [args, stderr] of lines) expect(run('restore', ...args)).toEqual({ status: 2, stdout: '', stderr })
})
