import { findPair, type FoundRow } from '@influencer-stats/bench/tables/find-row'
import { workloads } from '@influencer-stats/bench/tables/all'
import { renderFlamePage } from '@influencer-stats/dashboard/flame-page'
import { mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { createDifferenceFile, formatLargestChanges, formatTotals } from './file/difference-file.ts'
import { packFile } from './file/flame-file.ts'
import { readDifference, type DifferenceSide } from './graph/difference.ts'
import { startProfiled } from './recording/profiled-process.ts'
import { recordPair } from './recording/record-pair.ts'
import { withService } from './recording/record.ts'

export const VARIANT_DIFFERENCE_HELP = `pnpm flame diff BASE OWN    graph of the CPU time per request of OWN, coloured by its difference from BASE; both are
                            names as in bench compare (stats/v1 stats/v2), and get the same load in turn

  --duration S              seconds of load of each (5)
  --output FILE.html        the page (in the temporary folder of the system)
`

const options = {
  duration: { type: 'string', default: '5' },
  output: { type: 'string' },
} as const

/** Parses the arguments after `diff`. @throws Error naming the invalid argument */
export function parseVariantDifference(argv: readonly string[]) {
  const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true })
  if (positionals.length !== 2) throw new Error('diff takes two variants: stats/v1 stats/v2')
  const names = [positionals[0]!, positionals[1]!] as const
  const seconds = Number(values.duration)
  if (!(seconds > 0)) throw new Error('--duration is not a number of seconds above 0')
  const file = `flame-${names.map((name) => name.replaceAll(/[^A-Za-z0-9.]+/g, '-')).join('-to-')}.html`
  return { names, seconds, output: values.output ?? join(tmpdir(), file) }
}

/** Adds the setting of a profiled service to a row. @throws Error if the row is not a variant that answers requests */
function toProfiledRow({ row: { name, target, requests } }: FoundRow) {
  const spec = target.service?.spec
  const work = spec && (spec.work ?? name.split('/').at(-1)!)
  const create = work && workloads[spec.service]?.[work]
  if (!create || !requests) throw new Error(`${name} is not a variant that answers requests`)
  // A profiled service is slower. So load shedding is off, because the service must not refuse requests.
  return { row: create({ ...spec, settings: { ...spec.settings, maxQueueDelay: '0' } }), requests }
}

/** Profiles two variants. @returns the sides in the order of the names */
async function recordVariants(names: readonly [string, string], seconds: number) {
  const [base, own] = findPair(names).map(toProfiledRow)
  return withService(base!.row, 1, startProfiled, (baseProcess) =>
    withService(own!.row, 1, startProfiled, (ownProcess) =>
      recordPair([baseProcess, ownProcess], own!.requests, seconds),
    ),
  )
}

/** Writes the page of two recorded variants. @returns the totals and tables of the largest changes, as lines */
export function writeVariantDifference(
  [base, own]: readonly [DifferenceSide, DifferenceSide],
  [baseName, ownName]: readonly [string, string],
  output: string,
): string[] {
  const difference = readDifference(own, base)
  const names = [ownName, baseName] as const
  const file = createDifferenceFile(`${ownName} and ${baseName}: CPU time per request`, 'request', difference, names)
  mkdirSync(dirname(output), { recursive: true })
  writeFileSync(output, renderFlamePage(packFile(file)))
  return [
    `${ownName}: ${formatTotals(difference, 'request', baseName)}`,
    '',
    ...formatLargestChanges(difference, 'request', names),
  ]
}

/** Runs `pnpm flame diff`. @returns the lines to print */
export async function runVariantDifference(argv: readonly string[]): Promise<string[]> {
  const { names, seconds, output } = parseVariantDifference(argv)
  return [...writeVariantDifference(await recordVariants(names, seconds), names, output), '', output]
}
