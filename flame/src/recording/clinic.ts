import type { BenchRow } from '@influencer-stats/bench/row'
import { createTemporaryFolder } from '@influencer-stats/bench/temporary-folder'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import {
  cutRare,
  ROOT_NAME,
  removeFonts,
  removePaths,
  toJavaScriptNames,
  toTypeScriptNames,
  type Tick,
} from './clinic-cleanup.ts'
import { ROOT } from '../paths.ts'
import { NODE_FLAGS, startReporting } from './profiled-process.ts'
import { runUnderLoad } from './record.ts'

const CLINIC_SCRIPT = join(ROOT, 'flame/clinic/node_modules/clinic/bin.js')

/** Maximum size of a page, which has 250 KB when it is compressed. */
const MAX_HTML_BYTES = 2_500_000

// Environment in which clinic does not offer to send statistics and does not look for a newer version.
const QUIET_ENV = { NO_INSIGHT: '1', NO_UPDATE_NOTIFIER: '1' }

/**
 * Installs clinic, unless it is already installed. The install is separate, because clinic has 655 packages.
 * @throws Error if the install fails; the output of pnpm is in the standard error stream
 */
export function installClinic(): void {
  const { status } = spawnSync(process.execPath, [join(ROOT, 'scripts/install.mjs'), 'clinic'], { stdio: 'inherit' })
  if (status !== 0)
    throw new Error(
      'clinic is not installed. Its first use downloads it from the npm registry; try again when that is reachable',
    )
}

/**
 * Takes a `clinic flame` snapshot of a service under the load of a row. The service has no serving threads (`threads:
 * 0`), because clinic profiles only the main thread.
 * @param rate requests per second; undefined for a closed loop
 * @param file path of the compressed page to write
 */
export async function takeClinicSnapshot(
  row: BenchRow,
  seconds: number,
  rate: number | undefined,
  file: string,
): Promise<void> {
  using temporary = createTemporaryFolder()
  const folder = temporary.path
  const start = (script: string, args: readonly string[]) => {
    const clinic = [CLINIC_SCRIPT, 'flame', '--collect-only', '--open=false', '--dest', folder, '--']
    // The process runs in the temporary folder, because V8 writes a large log into the current folder.
    return startReporting(process.execPath, [...clinic, process.execPath, ...NODE_FLAGS, script, ...args], {
      cwd: folder,
      env: QUIET_ENV,
    })
  }
  await runUnderLoad(row, { threads: 0, start, seconds, rate }, () => delay(seconds * 1000))
  const data = findFile(folder, '.clinic-flame')
  for (const name of readdirSync(data)) removeMachinePaths(join(data, name))
  writeFileSync(file, gzipSync(renderSmall(data), { level: 9 }))
}

/** Returns the path of the file or folder with this suffix in a folder. */
const findFile = (folder: string, end: string) =>
  join(
    folder,
    readdirSync(folder).find((name) => name.endsWith(end))!,
  )

/**
 * Removes the paths of this machine from a recording of clinic, before clinic renders it. Modules then have paths
 * instead of URLs, and TypeScript files have the suffix `.js`. clinic needs both to distinguish V8, dependencies and app.
 */
function removeMachinePaths(file: string): void {
  const text = toJavaScriptNames(removePaths(readFileSync(file, 'utf8'), ROOT))
  const isInfo = file.endsWith('-systeminfo')
  writeFileSync(file, isInfo ? JSON.stringify({ ...JSON.parse(text), mainDirectory: ROOT_NAME.slice(0, -1) }) : text)
}

/** Renders the snapshot, and cuts rare stacks until it is small enough to commit. */
function renderSmall(data: string): string {
  const samples = findFile(data, '-samples')
  const ticks: Tick[] = JSON.parse(readFileSync(samples, 'utf8'))
  for (let least = 2; ; least *= 2) {
    writeFileSync(samples, JSON.stringify(cutRare(ticks, least)))
    renderSnapshot(data)
    const html = toTypeScriptNames(removeFonts(removePaths(readFileSync(`${data}.html`, 'utf8'), ROOT)))
    if (Buffer.byteLength(html) <= MAX_HTML_BYTES) return html
  }
}

function renderSnapshot(data: string): void {
  const args = [CLINIC_SCRIPT, 'flame', '--open=false', '--visualize-only', data]
  const { status, stderr } = spawnSync(process.execPath, args, {
    env: { ...process.env, ...QUIET_ENV },
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`clinic could not render the snapshot: ${stderr}`)
}
