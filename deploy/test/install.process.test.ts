import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const INSTALL = fileURLToPath(new URL('../../scripts/install.mjs', import.meta.url))

// Records its arguments, and writes the result of a successful install.
const PNPM = `#!${process.execPath}
const { appendFileSync, existsSync, mkdirSync, writeFileSync } = require('node:fs')
const args = process.argv.slice(2)
appendFileSync('calls', args.join(' ') + '\\n')
console.log('Progress: resolved 2, reused 1, downloaded 1, added 2')
if (existsSync('away')) { console.error('the registry is away'); process.exit(7) }
mkdirSync('node_modules', { recursive: true })
if (args.includes('@influencer-stats/bench...')) mkdirSync('bench/node_modules/autocannon', { recursive: true })
const state = { lastValidatedTimestamp: Date.now(), filteredInstall: args.includes('--filter'), settings: { dev: !args.includes('--prod') } }
writeFileSync('node_modules/.pnpm-workspace-state-v1.json', JSON.stringify(state))
`

/** A workspace without installed packages. */
function createWorkspace() {
  const folder = createTemporaryFolder()
  for (const name of ['scripts', 'packages/kv', 'bench', 'flame/clinic'])
    mkdirSync(join(folder, name), { recursive: true })
  cpSync(INSTALL, join(folder, 'scripts/install.mjs'))
  for (const name of ['package.json', 'packages/kv/package.json', 'bench/package.json'])
    writeFileSync(join(folder, name), '{}')
  for (const name of ['pnpm-lock.yaml', 'pnpm-workspace.yaml']) writeFileSync(join(folder, name), '')
  const long = new Date(Date.now() - 60_000)
  for (const name of [
    'package.json',
    'packages/kv/package.json',
    'bench/package.json',
    'pnpm-lock.yaml',
    'pnpm-workspace.yaml',
  ])
    utimesSync(join(folder, name), long, long)
  const pnpm = join(folder, 'pnpm')
  writeFileSync(pnpm, PNPM)
  chmodSync(pnpm, 0o755)
  const calls = join(folder, 'calls')
  return {
    folder,
    /** Runs the install script for a level. `called` has the arguments of each call of pnpm that the script made. */
    need(level: string) {
      if (existsSync(calls)) writeFileSync(calls, '')
      const env = { ...process.env, npm_execpath: pnpm }
      const { status, stderr } = spawnSync(process.execPath, [join(folder, 'scripts/install.mjs'), level], {
        encoding: 'utf8',
        env,
      })
      const called = existsSync(calls) ? readFileSync(calls, 'utf8').split('\n').filter(Boolean) : []
      return { status, stderr, called }
    },
  }
}

test('each command installs what it needs, once, and takes away nothing that another needed', () => {
  const { need } = createWorkspace()
  const start = need('start')
  expect(start).toMatchObject({ status: 0, called: [expect.stringMatching(/--prod --filter influencer-stats\.\.\./)] })
  expect(start.stderr).not.toMatch(/Progress/)
  expect(need('start')).toEqual({ status: 0, stderr: '', called: [] })
  expect(need('bench').called).toEqual([expect.stringContaining('@influencer-stats/bench...')])
  for (const level of ['start', 'bench']) expect(need(level).called).toEqual([])
  expect(need('all').called).toEqual([expect.not.stringMatching(/--prod|--filter/)])
  for (const level of ['start', 'bench', 'all']) expect(need(level).called).toEqual([])
})

test('clinic is installed once, in its own folder, and in addition to the other packages', () => {
  const { folder, need } = createWorkspace()
  need('all')
  expect(need('clinic').status).toBe(0)
  const calls = join(folder, 'flame/clinic/calls')
  expect(readFileSync(calls, 'utf8')).toMatch(/^install --frozen-lockfile --reporter=append-only\n$/)
  expect(need('clinic')).toMatchObject({ status: 0, stderr: '' })
  expect(readFileSync(calls, 'utf8').trim().split('\n')).toHaveLength(1)
  expect(need('all').called).toEqual([])
})

test.each(['pnpm-lock.yaml', 'package.json', 'packages/kv/package.json'])('again once %s has changed', (name) => {
  const { folder, need } = createWorkspace()
  need('all')
  const soon = new Date(Date.now() + 60_000)
  utimesSync(join(folder, name), soon, soon)
  expect(need('start').called).toEqual([expect.not.stringMatching(/--prod/)])
})

test('one that fails says all that pnpm said, and ends what it was for', () => {
  const { folder, need } = createWorkspace()
  writeFileSync(join(folder, 'away'), '')
  const { status, stderr } = need('start')
  expect(status).toBe(1)
  expect(stderr).toMatch(/the registry is away[^]*The install failed \(7\)/)
  expect(need('start').called).toHaveLength(1)
})
