import { stopBackgroundProcesses } from '@influencer-stats/bench/targets/background-processes'
import { createProgress } from '@influencer-stats/bench/progress'
import { workloads } from '@influencer-stats/bench/tables/all'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { listAllSubjects, choose, getFolder, HELP, parseFlameArguments } from './arguments.ts'
import { installClinic, takeClinicSnapshot } from './recording/clinic.ts'
import { parseDifferenceArguments } from './difference-arguments.ts'
import { FLAME_FOLDER, ROOT } from './paths.ts'
import { updateReadme } from './readme.ts'
import { measureBenchRate, recordRow } from './recording/record.ts'
import { writeSnapshot } from './flame-snapshot.ts'
import { recountComponents } from './file/recount.ts'
import { renameFile } from './file/rename-file.ts'
import { findAddress, openBrowser, serveViewer } from './viewer-server.ts'
import { writeDifference } from './write-difference.ts'

const CLINIC_PAGE = 'clinic-flame.html.gz'

function runDifference(argv: readonly string[]): void {
  const options = parseDifferenceArguments(argv)
  process.stdout.write(`${[options.output, ...writeDifference(options)].join('\n')}\n`)
}

async function runRename(former = '', current = ''): Promise<void> {
  if (!existsSync(join(ROOT, current)) || current === '')
    throw new Error(`rename takes OLD NEW; there is no ${current}`)
  process.stdout.write(`${renameFile(former, current, FLAME_FOLDER)} files changed\n`)
  await updateReadme()
}

async function runRecount(): Promise<void> {
  process.stdout.write(`${recountComponents(FLAME_FOLDER)} recordings changed\n`)
  await updateReadme()
}

/** Serves the viewer until a signal ends the process. */
async function runViewer(path = ''): Promise<void> {
  const address = findAddress(path)
  const { url } = await serveViewer()
  process.stdout.write(`${url}${address}\n`)
  openBrowser(`${url}${address}`)
}

async function run(argv: readonly string[]): Promise<void> {
  if (argv[0] === 'difference' && !argv.includes('--help')) return runDifference(argv.slice(1))
  if (argv[0] === 'rename' && !argv.includes('--help')) return runRename(argv[1], argv[2])
  if (argv[0] === 'recount' && argv.length === 1) return runRecount()
  const { subjects, duration, clinic, open, help } = parseFlameArguments(argv)
  if (help) return void process.stdout.write(HELP)
  if (open) return runViewer(subjects[0])
  const chosen = choose(subjects, await listAllSubjects())
  // An existing snapshot of clinic is replaced, so that all graphs of a folder are of the same code.
  const needsClinic = (folder: string) => clinic || existsSync(join(folder, CLINIC_PAGE))
  if (chosen.some((one) => needsClinic(join(FLAME_FOLDER, getFolder(one))))) installClinic()
  const steps = chosen.map((one) => ({ row: getFolder(one), isPaced: false }))
  const progress = createProgress(process.stderr, steps)
  for (const [i, one] of chosen.entries()) {
    const folder = join(FLAME_FOLDER, getFolder(one))
    // A profiled service is slower. So load shedding is off, because the service must not refuse requests.
    const row = workloads[one.service]![one.work]!({ ...one, settings: { maxQueueDelay: '0' } })
    progress.begin(steps[i]!, getFolder(one))
    const { recordings, rate } = await recordRow(row, duration, await measureBenchRate(row))
    writeSnapshot(folder, { ...one, says: row.says!, seconds: duration, ...(rate && { rate }) }, recordings)
    if (needsClinic(folder)) await takeClinicSnapshot(row, duration, rate, join(folder, CLINIC_PAGE))
    await updateReadme()
  }
  progress.pause()
}

try {
  await run(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
} finally {
  await stopBackgroundProcesses()
}
