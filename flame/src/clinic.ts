import type { Row } from '@influencer-stats/bench/row'
import { temporaryFolder } from '@influencer-stats/bench/temporary'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { cutRare, NAME, withoutFonts, withoutPaths, type Tick } from './clinic-clean.ts'
import { LARGEST, ROOT } from './paths.ts'
import { FLAGS, startReporting } from './profiled-process.ts'
import { underLoad } from './record.ts'

const require = createRequire(import.meta.url)
const CLINIC = join(dirname(require.resolve('clinic/package.json')), 'bin.js')

// It would ask whether it may send statistics, and look for a newer version.
const quiet = { NO_INSIGHT: '1', NO_UPDATE_NOTIFIER: '1' }

/**
 * A `clinic flame` snapshot of a service under the load of a row, on main (`threads: 0`), because clinic sees no other
 * thread.
 *
 * @param html the file to write
 */
export async function takeClinicSnapshot(
  row: Row,
  seconds: number,
  rate: number | undefined,
  html: string,
): Promise<void> {
  using temporary = temporaryFolder()
  const folder = temporary.path
  const start = (script: string, args: readonly string[]) => {
    const clinic = [CLINIC, 'flame', '--collect-only', '--open=false', '--dest', folder, '--']
    // In a folder of its own: V8 writes its log, which is large, into the current one.
    return startReporting(process.execPath, [...clinic, process.execPath, ...FLAGS, script, ...args], {
      cwd: folder,
      env: quiet,
    })
  }
  await underLoad(row, { threads: 0, start, seconds, rate }, () => delay(seconds * 1000))
  const data = fileIn(folder, '.clinic-flame')
  for (const name of readdirSync(data)) anonymise(join(data, name))
  writeFileSync(html, drawSmall(data))
}

/** The one file, or folder, of a folder whose name ends so. */
const fileIn = (folder: string, end: string) =>
  join(
    folder,
    readdirSync(folder).find((name) => name.endsWith(end))!,
  )

/**
 * Takes this machine's paths out of what clinic has recorded, before it draws it. Modules are then named by path rather
 * than by URL, which is the only form in which clinic knows a dependency from the app.
 */
function anonymise(file: string): void {
  const text = withoutPaths(readFileSync(file, 'utf8'), ROOT)
  const isInfo = file.endsWith('-systeminfo')
  writeFileSync(file, isInfo ? JSON.stringify({ ...JSON.parse(text), mainDirectory: NAME.slice(0, -1) }) : text)
}

/** Draws the snapshot; rare stacks are cut shorter until it is small enough to be committed. */
function drawSmall(data: string): string {
  const samples = fileIn(data, '-samples')
  const ticks: Tick[] = JSON.parse(readFileSync(samples, 'utf8'))
  for (let least = 2; ; least *= 2) {
    writeFileSync(samples, JSON.stringify(cutRare(ticks, least)))
    visualize(data)
    const html = withoutFonts(withoutPaths(readFileSync(`${data}.html`, 'utf8'), ROOT))
    if (Buffer.byteLength(html) <= LARGEST) return html
  }
}

function visualize(data: string): void {
  const args = [CLINIC, 'flame', '--open=false', '--visualize-only', data]
  const { status, stderr } = spawnSync(process.execPath, args, {
    env: { ...process.env, ...quiet },
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`clinic could not draw the snapshot: ${stderr}`)
}
