import { stopBackgroundProcesses } from '@influencer-stats/bench/targets/background-processes'
import { assertQuietMachine, describeMachine, hasSameCode } from '@influencer-stats/bench/machine'
import { handleInterruption, reportFailure } from '@influencer-stats/bench/run/interruption'
import { createProgress } from '@influencer-stats/bench/progress'
import { workloads } from '@influencer-stats/bench/tables/all'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  listAllSubjects,
  choose,
  getFolder,
  HELP,
  parseFlameArguments,
  type FlameArguments,
  type FlameSubject,
} from './arguments.ts'
import { installClinic, takeClinicSnapshot } from './recording/clinic.ts'
import { parseDifferenceArguments } from './difference-arguments.ts'
import { FLAME_FOLDER, ROOT } from './paths.ts'
import { updateReadme } from './readme.ts'
import { measureBenchRate, recordRow } from './recording/record.ts'
import { recordSubjects, toStep } from './recording/record-subjects.ts'
import { listStaleGraphs, readReport } from './stale-graphs.ts'
import { writeSnapshot } from './flame-snapshot.ts'
import { recountComponents } from './file/recount.ts'
import { renameFile } from './file/rename-file.ts'
import { runVariantDifference } from './variant-difference.ts'
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

const print = (text: string) => void process.stdout.write(`${text}\n`)

/** Aborted when the user interrupts a recording. Other commands end at once. */
let interruption: AbortSignal | undefined

/** Assumed duration of a recording, until one of the run is complete (s). */
const USUAL_STEP_SECONDS = 45

// An existing snapshot of clinic is replaced, so that all graphs of a folder are of the same code.
const needsClinic = (folder: string, clinic: boolean) => clinic || existsSync(join(folder, CLINIC_PAGE))

/** Records a subject and writes its files. */
async function recordSubject(one: FlameSubject, { duration, clinic }: FlameArguments): Promise<void> {
  const began = performance.now()
  const folder = join(FLAME_FOLDER, getFolder(one))
  // A profiled service is slower. So load shedding is off, because the service must not refuse requests.
  const row = workloads[one.service]![one.work]!({ ...one, settings: { maxQueueDelay: '0' } })
  const { recordings, rate } = await recordRow(row, duration, await measureBenchRate(row))
  // The snapshot of clinic is first: `hot.json` has the commit of all files of the folder.
  if (needsClinic(folder, clinic)) await takeClinicSnapshot(row, duration, rate, join(folder, CLINIC_PAGE))
  const stepSeconds = Math.round((performance.now() - began) / 1000)
  writeSnapshot(folder, { ...one, says: row.says!, seconds: duration, stepSeconds, ...(rate && { rate }) }, recordings)
  await updateReadme()
}

/** Records the chosen subjects. @returns true if none failed */
async function runRecording(args: FlameArguments): Promise<boolean> {
  const all = choose(args.subjects, await listAllSubjects())
  if (args.publish) await assertQuietMachine(print)
  const { commit } = describeMachine()
  const isRecorded = (one: FlameSubject) => hasSameCode(one.service, readReport(one)?.machine.commit ?? '', commit)
  const chosen = args.publish ? all.filter((one) => !isRecorded(one)) : all
  if (chosen.length < all.length) print(`${all.length - chosen.length} of ${all.length} are of this code already`)
  if (chosen.some((one) => needsClinic(join(FLAME_FOLDER, getFolder(one)), args.clinic))) installClinic()
  const usual = chosen.map((one) => [getFolder(one), readReport(one)?.stepSeconds ?? USUAL_STEP_SECONDS] as const)
  const progress = createProgress(process.stderr, chosen.map(toStep), new Map(usual))
  interruption = handleInterruption()
  const failed = await recordSubjects(chosen, (one) => recordSubject(one, args), {
    progress,
    print,
    signal: interruption,
  })
  for (const { name, message } of failed) process.stderr.write(`FAILED ${name}: ${message}\n`)
  return failed.length === 0
}

/** Lists graphs of other code than their tables. @returns true if there are none */
function runCheck(): boolean {
  const lines = listStaleGraphs(Object.keys(workloads))
  for (const line of lines) print(line)
  if (lines.length > 0) print(`${lines.length} graphs are of other code: pnpm flame --publish records them again`)
  return lines.length === 0
}

/** @returns true if nothing failed */
async function run(argv: readonly string[]): Promise<boolean> {
  const [command, ...rest] = argv.includes('--help') ? [] : argv
  if (command === 'difference') return (runDifference(rest), true)
  if (command === 'diff') {
    interruption = handleInterruption()
    return runVariantDifference(rest).then((lines) => (print(lines.join('\n')), true))
  }
  if (command === 'rename') return runRename(rest[0], rest[1]).then(() => true)
  if (command === 'recount' && rest.length === 0) return runRecount().then(() => true)
  const args = parseFlameArguments(argv)
  if (args.help) return (print(HELP), true)
  if (args.open) return runViewer(args.subjects[0]).then(() => true)
  return args.check ? runCheck() : runRecording(args)
}

try {
  if (!(await run(process.argv.slice(2)))) process.exitCode = 1
} catch (error) {
  reportFailure(error, interruption)
} finally {
  await stopBackgroundProcesses()
}
