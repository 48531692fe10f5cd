import { embed } from '@influencer-stats/runtime/embed'
import { writeIdentity } from '@influencer-stats/runtime/folder-identity'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { services } from '../../services.ts'
import { simulatePowerCut, writeCrashImage, readTree } from './disk/power-cut.ts'
import { createRecording } from './disk/trace-recording.ts'
import type { SystemCall } from './disk/system-call.ts'
import { WriteLedger } from './write-ledger.ts'
import type { SeededRandom } from './random.ts'
import { run } from './service-process.ts'
import { getUnits, type TestedService } from './services/tested-service.ts'
import { write } from './write.ts'

const FAKE_BOOT_ID = new URL('fake-boot-id.ts', import.meta.url).href

export interface PowerOptions {
  readonly random: SeededRandom
  /** Number of recordings. Each starts on the crash image of the last power cut. */
  readonly recordings: number
  /** Number of simulated power cuts of each recording. */
  readonly cuts: number
  /** Number of acknowledged writes in a recording. */
  readonly writes: number
  /** Percentage of durable writes. */
  readonly durable: number
  /** As in `WriteLedger.check`. */
  readonly coversEarlier?: boolean
  /** As in `WriteLedger.check`. */
  readonly losesOnlyNewest?: boolean
}

/** Records a service under writers, simulates power cuts, and returns the violations of durability. */
export async function cutPower(subject: TestedService, options: PowerOptions): Promise<string[]> {
  const violations: string[] = []
  const folders: string[] = []
  const newFolder = () => {
    const folder = mkdtempSync(join(tmpdir(), 'influencer-stats-power-'))
    folders.push(folder)
    return folder
  }
  try {
    let folder = newFolder()
    for (let i = 0; i < options.recordings; i++) {
      const random = options.random.part(`recording ${i}`)
      const initialTree = readTree(folder)
      const { ledger, calls } = await record(subject, folder, options, random)
      for (let j = 0; j < options.cuts; j++) {
        const cutRandom = random.part(`cut ${j}`)
        const moment = pickMoment(calls, ledger, cutRandom)
        const crashFolder = newFolder()
        writeCrashImage(simulatePowerCut(folder, initialTree, calls, moment.count, cutRandom), folder, crashFolder)
        rewriteIdentity(crashFolder)
        const [first, ...more] = await inspect(subject, crashFolder, ledger, moment.at, options)
        if (first) {
          const where = `recording ${i}, cut ${j}, after ${moment.count} of ${calls.length} calls`
          violations.push(`${where}: ${first}${more.length > 0 ? `, and ${more.length} more` : ''}`)
        }
        if (j === options.cuts - 1) folder = first ? newFolder() : crashFolder
      }
    }
    return violations
  } finally {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Writes a new identity file. After a real power cut a service finds the same folder; the simulation writes a copy,
 * which the service would detect as a copied folder.
 */
function rewriteIdentity(folder: string): void {
  try {
    JSON.parse(readFileSync(join(folder, 'level', 'identity.json'), 'utf8'))
  } catch {
    // The identity file was not on the disk, or was incomplete.
    return
  }
  writeIdentity(folder)
}

/** Runs a service under `strace` and writers until it has acknowledged `writes` writes, and then kills it. */
async function record(subject: TestedService, folder: string, { writes, durable }: PowerOptions, random: SeededRandom) {
  const recording = createRecording()
  try {
    const { settings } = subject
    const service = await run(subject.service, folder, { settings, under: recording.under, preload: FAKE_BOOT_ID })
    const session = subject.connect(service.url)
    const ledger = new WriteLedger(getUnits(subject).flat(), await session.read())
    const limitReached = Promise.withResolvers<void>()
    let remaining = writes
    const onAcknowledged = () => --remaining === 0 && limitReached.resolve()
    const writing = write(session, { subject, ledger, random, durable, onAcknowledged })
    await Promise.race([limitReached.promise, writing])
    await service.crash()
    await writing
    await session.close()
    return { ledger, calls: await recording.calls(folder) }
  } finally {
    recording.remove()
  }
}

/**
 * Picks a moment for a power cut: any moment, or immediately after an acknowledgement.
 * @returns the number of system calls before it, and its time (s)
 */
function pickMoment(
  calls: readonly SystemCall[],
  ledger: WriteLedger,
  random: SeededRandom,
): { count: number; at: number } {
  const acknowledgements = ledger.acknowledgements
  if (acknowledgements.length === 0 || random.below(2) === 0) {
    const count = random.below(calls.length + 1)
    return { count, at: calls[count - 1]?.at ?? 0 }
  }
  const at = random.one(acknowledgements)
  const next = calls.findIndex((call) => call.at > at)
  return { count: next < 0 ? calls.length : next, at }
}

/** Starts the service on a crash image, and returns the violations in its data. @param at time of the power cut (s) */
async function inspect(
  subject: TestedService,
  folder: string,
  ledger: WriteLedger,
  at: number,
  options: PowerOptions,
): Promise<string[]> {
  try {
    const service = await embed(await services[subject.service]!(), { data: folder, ...subject.settings })
    const session = subject.connect(service.url)
    try {
      return ledger.check(await session.read(at), at, options)
    } finally {
      await session.close()
      await service.stop()
    }
  } catch (error) {
    return [`it does not start: ${(error as Error).message}`]
  }
}
