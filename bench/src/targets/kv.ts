import { createKvClient } from '@influencer-stats/kv/client'
import { copyFileSync, linkSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { FULL_BASE_ENTRIES, BATCH_ENTRIES, getValue } from '../load/requests/kv-entries.ts'
import { getProcessorSeconds } from '../processes.ts'
import { createSpec, type Spec } from '../spec.ts'
import { createTemporaryFolder } from '../temporary-folder.ts'
import type { ConstantReply } from './bare.ts'
import { createProgramTarget, toScript } from './program.ts'
import type { BenchTarget } from './target.ts'
import { waitForCompaction } from './kv-compaction.ts'
import { createServiceTarget } from './service.ts'

const DEFAULT_SPEC = createSpec('kv')
/** A database that uses less processor time than this in half a second has finished merging its tables. */
const MAX_IDLE_CPU_S = 0.02

/** By checkout and number of entries: a checkout cannot read the newer format of another. */
const bases = new Map<string, Promise<string>>()

/** The folder of a base with `entries` entries, created once per run: 1.5 million take 20 s. */
export function getKvBase(entries: number, checkout?: string): Promise<string> {
  const key = `${entries} ${checkout ?? ''}`
  let base = bases.get(key)
  if (!base) bases.set(key, (base = makeBase(entries, checkout)))
  return base
}

async function makeBase(entries: number, checkout: string | undefined): Promise<string> {
  const { path: folder, remove } = createTemporaryFolder()
  process.once('exit', remove)
  if (entries === 0) return folder
  await withService(folder, checkout, (url) => putEntries(url, entries))
  // A reopened LevelDB turns its log into a table. This function then waits until the database is idle, so that merges
  // after the filling do not slow a measured row.
  await withService(folder, checkout, async (url, pid) => {
    if (entries === FULL_BASE_ENTRIES) await waitForCompaction(url, folder)
    for (let last = -1, now = getProcessorSeconds(pid); now - last > MAX_IDLE_CPU_S; now = getProcessorSeconds(pid)) {
      last = now
      await delay(500)
    }
  })
  return folder
}

/** Puts the entries of a base, in batches. */
export async function putEntries(url: string, entries: number, token?: string): Promise<void> {
  const client = createKvClient(url, token === undefined ? {} : { token })
  for (let first = 0; first < entries; first += BATCH_ENTRIES) {
    const ids = Array.from({ length: Math.min(BATCH_ENTRIES, entries - first) }, (_, i) => first + i)
    await client.applyBatchLines(ids.map((id) => `{"op":"put","id":"${id}","value":"${getValue(id)}"}\n`).join(''))
  }
  await client.close()
}

async function withService(
  data: string,
  checkout: string | undefined,
  work: (url: string, pid: number) => Promise<void>,
): Promise<void> {
  const { url, pid, stop } = await createServiceTarget(DEFAULT_SPEC, { data }).start(checkout)
  try {
    await work(url, pid)
  } finally {
    await stop()
  }
}

/** Copies a base. LevelDB never changes a table, so copies share the tables and their pages in the page cache. */
function copyBase(from: string, to: string): void {
  mkdirSync(join(to, 'level'), { recursive: true })
  for (const name of readdirSync(from)) if (name !== 'level') copyFileSync(join(from, name), join(to, name))
  const files = readdirSync(from).includes('level') ? readdirSync(join(from, 'level')) : []
  for (const name of files) {
    const copy = name.endsWith('.ldb') ? linkSync : copyFileSync
    copy(join(from, 'level', name), join(to, 'level', name))
  }
}

/**
 * The key-value service with its own base of `entries` entries.
 * @param onFilled called with the base's folder before the service opens it
 */
export const createKvTarget = (
  spec: Spec,
  entries: number,
  settings: Readonly<Record<string, string>> = {},
  onFilled: (folder: string) => void = () => {},
): BenchTarget =>
  createServiceTarget(spec, settings, {
    async fill(folder, checkout) {
      copyBase(await getKvBase(entries, checkout), folder)
      onFilled(folder)
    },
  })

/**
 * A bare `node:http` server that reads or writes a base of `entries` entries and sends one reply: the lower bound of
 * costs with `node:http` and LevelDB.
 */
export const createLevelTarget = (reply: ConstantReply, entries: number): BenchTarget =>
  createProgramTarget({
    ...toScript('bare node:http with LevelDB', 'level-server.ts', JSON.stringify(reply)),
    fill: async (folder) => copyBase(await getKvBase(entries), folder),
  })
