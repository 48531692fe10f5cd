import { createHash } from 'node:crypto'
import {
  appendFileSync,
  cpSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import type { SharedLevel } from '../../src/level/open/shared-level.ts'
import { readWitness } from '../../src/level/integrity/witness.ts'
import { readTree } from './folder-tree.ts'
import { createTemporaryFolder } from './temporary-folder.ts'
import { waitUntil } from './wait-until.ts'

/** Ways to damage a file. False if the damage does not change this file. */
export const DAMAGES: Readonly<Record<string, (file: string) => boolean>> = {
  missing: (file) => {
    rmSync(file)
    return true
  },
  empty: (file) => cut(file, 0),
  'half of it': (file) => cut(file, Math.floor(statSync(file).size / 2)),
  'cut by 3 bytes': (file) => cut(file, Math.max(0, statSync(file).size - 3)),
  'bit at the start': (file) => flip(file, () => 0),
  'bit in the middle': (file) => flip(file, (size) => Math.floor(size / 2)),
  'bit at the end': (file) => flip(file, (size) => size - 1),
}

function cut(file: string, size: number): boolean {
  if (size === statSync(file).size) return false
  truncateSync(file, size)
  return true
}

function flip(file: string, at: (size: number) => number): boolean {
  const bytes = readFileSync(file)
  if (bytes.length === 0) return false
  bytes[at(bytes.length)]! ^= 4
  writeFileSync(file, bytes)
  return true
}

type AnyLevel = SharedLevel<any, any>

export interface MatrixOptions {
  readonly service: string
  /** Opens the folder as the service's main does. */
  open(folder: string): Promise<AnyLevel>
  /** Writes some data, different in each round. */
  write(level: AnyLevel, round: number): Promise<unknown>
  /** True for entries that a start may change itself. */
  isOwn?(key: Buffer): boolean
}

/** Result of a start with one damaged file: `refused`, `whole` or the fault; `-` if the damage changes no byte. */
export type DamageOutcome = string

export interface MatrixRow {
  readonly file: string
  readonly outcomes: Readonly<Record<string, DamageOutcome>>
}

const byteEncoding = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const

async function readEntries({ db }: AnyLevel, { isOwn = () => false }: MatrixOptions): Promise<string[]> {
  const entries = (await db.iterator(byteEncoding).all()) as unknown as [Buffer, Buffer][]
  return entries.flatMap(([key, value]) => (isOwn(key) ? [] : [`${key.toString('hex')}=${value.toString('hex')}`]))
}

/** Creates a folder with tables, a log in use, and every other file of LevelDB. */
async function makeFolder(options: MatrixOptions, ending: 'closed' | 'killed') {
  const folder = createTemporaryFolder()
  // Two runs, so that the manifest in use has records of each kind.
  let level = await options.open(folder)
  await options.write(level, 0)
  await level.close()
  level = await options.open(folder)
  await options.write(level, 1)
  await level.flush()
  await options.write(level, 2)
  const entries = await readEntries(level, options)
  if (ending === 'closed') {
    await level.close()
    return { folder, entries }
  }
  // The files of a running process are the files after a kill.
  const location = join(folder, 'level')
  await waitUntil(() => {
    const { logs = {}, manifest = '', manifestBytes } = readWitness(folder) ?? {}
    return (
      Object.entries(logs).some(([, size]) => size > 0) &&
      Object.entries(logs).every(
        ([name, size]) => statSync(join(location, name), { throwIfNoEntry: false })?.size === size,
      ) &&
      statSync(join(location, manifest)).size === manifestBytes
    )
  })
  const copy = createTemporaryFolder()
  cpSync(folder, copy, { recursive: true })
  await level.close()
  return { folder: copy, entries }
}

async function findOutcome(folder: string, entries: readonly string[], options: MatrixOptions): Promise<DamageOutcome> {
  const before = readTree(folder)
  let level: AnyLevel
  try {
    level = await options.open(folder)
  } catch (error) {
    const { name, code, message } = error as Error & { code?: string }
    if (name !== 'StartError' || !code || message.includes('\n')) return `failed: ${message}`
    return isDeepStrictEqual(readTree(folder), before) ? 'refused' : `CHANGED the folder, ${code}`
  }
  try {
    const found = await readEntries(level, options)
    return isDeepStrictEqual(found, entries) ? 'whole' : `LOST ${entries.length - found.length} of ${entries.length}`
  } catch (error) {
    return `UNREADABLE (${(error as Error).message})`
  } finally {
    await level.close()
  }
}

/** Damages each file of a folder in each way, and starts the service on it. */
export async function runDamageMatrix(options: MatrixOptions, ending: 'closed' | 'killed'): Promise<MatrixRow[]> {
  const { folder, entries } = await makeFolder(options, ending)
  const names = readdirSync(join(folder, 'level')).map((name) => join('level', name))
  const rows: MatrixRow[] = []
  for (const file of names.toSorted()) {
    const outcomes: Record<string, DamageOutcome> = {}
    for (const [name, damage] of Object.entries(DAMAGES)) {
      const copy = createTemporaryFolder()
      cpSync(folder, copy, { recursive: true })
      outcomes[name] = damage(join(copy, file)) ? await findOutcome(copy, entries, options) : '-'
      rmSync(copy, { recursive: true })
    }
    rows.push({ file, outcomes })
  }
  report(options.service, ending, rows)
  return rows
}

/** Appends the matrix as Markdown to the file that `DAMAGE_MATRIX` names. */
function report(service: string, ending: string, rows: readonly MatrixRow[]): void {
  const file = process.env.DAMAGE_MATRIX
  if (!file) return
  const kinds = Object.keys(DAMAGES)
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`
  const body = rows.map((row) => line([row.file, ...kinds.map((kind) => row.outcomes[kind]!)]))
  const head = line([`${service}, ${ending}`, ...kinds]) + line(['', ...kinds].map(() => '---'))
  appendFileSync(file, `${head}${body.join('')}\n`)
}

const ROUND_ENTRIES = 120
const createText = (round: number, i: number) => createHash('sha512').update(`${round} ${i}`).digest('hex')

/** Writes some entries in a few batches. Half of them are new. */
export async function writeRound(level: AnyLevel, round: number): Promise<void> {
  for (let from = 0; from < ROUND_ENTRIES; from += 10) {
    const batch = Array.from({ length: 10 }, (_, i) => {
      const key = Buffer.from(`x${(round * ROUND_ENTRIES) / 2 + from + i}`)
      return { type: 'put' as const, key, value: Buffer.from(createText(round, from + i)) }
    })
    await level.write((db) => db.batch(batch, byteEncoding))
  }
}

/** Fails with all outcomes that are wrong. */
export function expectNoLoss(rows: readonly MatrixRow[]): void {
  const wrong = rows.flatMap(({ file, outcomes }) =>
    Object.entries(outcomes).flatMap(([kind, outcome]) =>
      ['refused', 'whole', '-'].includes(outcome) ? [] : [`${file}, ${kind}: ${outcome}`],
    ),
  )
  expect(wrong).toEqual([])
  const refused = rows.filter(({ outcomes }) => Object.values(outcomes).includes('refused'))
  expect(refused.map(({ file }) => file)).toEqual(
    expect.arrayContaining([
      'level/CURRENT',
      expect.stringMatching(/^level\/MANIFEST-/),
      expect.stringMatching(/\.ldb$/),
      expect.stringMatching(/\.log$/),
    ]),
  )
}
