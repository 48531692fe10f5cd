import { hasSameCode } from '@influencer-stats/bench/machine'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { renderReadme } from '../src/readme.ts'
import { describeStaleness } from '../src/stale-graphs.ts'

const git = (...args: string[]) => spawnSync('git', args, { encoding: 'utf8' }).stdout.trim()
const COMMIT = git('rev-parse', '--short=12', 'HEAD')
const describeOf = (commit: string, table: string) =>
  describeStaleness(
    { service: 'stats', variant: 'v1', work: 'read', machine: { commit } },
    new Map([['stats/read', table]]),
  )

describe('a graph', () => {
  it('of the same code as its table is current', () => {
    expect(describeOf(COMMIT, COMMIT)).toBeUndefined()
    expect(
      describeStaleness({ service: 'kv', variant: 'v1', work: 'get-small', machine: { commit: 'x' } }, new Map()),
    ).toBe(undefined)
  })

  it.each(['000000000000', `${COMMIT}+changes`])('of %s is of other code', (commit) => {
    expect(describeOf(commit, COMMIT)).toBe(`table stats/read is of commit ${COMMIT}`)
  })
})

/** Creates a commit of the current code without a file; of no code if no file is named. */
function commitWithout(path?: string): string {
  const env = { ...process.env, GIT_INDEX_FILE: join(createTemporaryFolder(), 'index') }
  const run = (...args: string[]) => spawnSync('git', args, { encoding: 'utf8', env }).stdout.trim()
  run('read-tree', ...(path === undefined ? ['--empty'] : [COMMIT]))
  if (path !== undefined) run('update-index', '--force-remove', path)
  return run('-c', 'user.name=t', '-c', 'user.email=t@t', 'commit-tree', run('write-tree'), '-m', 'Other code')
}

describe('the code of two commits', () => {
  it('is compared, not their names', () => {
    expect(hasSameCode('stats', COMMIT, commitWithout('README.md'))).toBe(true)
    expect(hasSameCode('stats', COMMIT, commitWithout())).toBe(false)
  })

  it('is that of a service', () => {
    const other = commitWithout('bench/src/load/fleet/publishers.ts')
    expect(hasSameCode('kv', COMMIT, other)).toBe(true)
    expect(hasSameCode('sse', COMMIT, other)).toBe(false)
  })
})

/** In a clone without history, commits cannot be compared. */
const isShallow = git('rev-parse', '--is-shallow-repository') === 'true'
const omitWarnings = (text: string) =>
  isShallow ? text.replaceAll(/^\*\*Other code than the table.*\n\n/gm, '') : text

describe('the README', () => {
  it('matches the snapshots, the findings and the results, and warns about graphs of other code', async () => {
    const text = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
    expect(omitWarnings(text)).toBe(omitWarnings(await renderReadme()))
  })
})
