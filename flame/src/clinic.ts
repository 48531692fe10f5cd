import type { BenchRow } from '@influencer-stats/bench/row'
import { createTemporaryFolder } from '@influencer-stats/bench/temporary-folder'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { cutRare, ROOT_NAME, removeFonts, removePaths, type Tick } from './clinic-cleanup.ts'
import { MAX_HTML_BYTES, ROOT } from './paths.ts'
import { NODE_FLAGS, startReporting } from './profiled-process.ts'
import { runUnderLoad } from './record.ts'

const require = createRequire(import.meta.url)
const CLINIC_SCRIPT = join(dirname(require.resolve('clinic/package.json')), 'bin.js')

// Prevents its question about statistics and its search for a newer version.
const QUIET_ENV = { NO_INSIGHT: '1', NO_UPDATE_NOTIFIER: '1' }

/**
 * A `clinic flame` snapshot of a service under the load of a row, on main (`threads: 0`), because clinic profiles no
 * other thread.
 *
 * @param html the file to write
 */
export async function takeClinicSnapshot(
  row: BenchRow,
  seconds: number,
  rate: number | undefined,
  html: string,
): Promise<void> {
  using temporary = createTemporaryFolder()
  const folder = temporary.path
  const start = (script: string, args: readonly string[]) => {
    const clinic = [CLINIC_SCRIPT, 'flame', '--collect-only', '--open=false', '--dest', folder, '--']
    // Runs in its own folder: V8 writes its log, which is large, into the current one.
    return startReporting(process.execPath, [...clinic, process.execPath, ...NODE_FLAGS, script, ...args], {
      cwd: folder,
      env: QUIET_ENV,
    })
  }
  await runUnderLoad(row, { threads: 0, start, seconds, rate }, () => delay(seconds * 1000))
  const data = findFile(folder, '.clinic-flame')
  for (const name of readdirSync(data)) removeMachinePaths(join(data, name))
  writeFileSync(html, drawSmall(data))
}

/** The only file or folder in a folder with this suffix. */
const findFile = (folder: string, end: string) =>
  join(
    folder,
    readdirSync(folder).find((name) => name.endsWith(end))!,
  )

/**
 * Removes this machine's paths from clinic's recording, before it renders it. Modules then have paths instead of URLs,
 * because clinic distinguishes a dependency from the app only by paths.
 */
function removeMachinePaths(file: string): void {
  const text = removePaths(readFileSync(file, 'utf8'), ROOT)
  const isInfo = file.endsWith('-systeminfo')
  writeFileSync(file, isInfo ? JSON.stringify({ ...JSON.parse(text), mainDirectory: ROOT_NAME.slice(0, -1) }) : text)
}

/** Renders the snapshot, and cuts rare stacks until it is small enough to commit. */
function drawSmall(data: string): string {
  const samples = findFile(data, '-samples')
  const ticks: Tick[] = JSON.parse(readFileSync(samples, 'utf8'))
  for (let least = 2; ; least *= 2) {
    writeFileSync(samples, JSON.stringify(cutRare(ticks, least)))
    renderSnapshot(data)
    const html = removeFonts(removePaths(readFileSync(`${data}.html`, 'utf8'), ROOT))
    if (Buffer.byteLength(html) <= MAX_HTML_BYTES) return html
  }
}

function renderSnapshot(data: string): void {
  const args = [CLINIC_SCRIPT, 'flame', '--open=false', '--visualize-only', data]
  const { status, stderr } = spawnSync(process.execPath, args, {
    env: { ...process.env, ...QUIET_ENV },
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`clinic could not draw the snapshot: ${stderr}`)
}
