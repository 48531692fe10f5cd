import { renderFlamePage } from '@influencer-stats/dashboard/flame-page'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DifferenceInput, DifferenceOptions } from './difference-arguments.ts'
import { createDifferenceFile, formatFunctionChange, formatTotals } from './file/difference-file.ts'
import { listChanges, readDifference, type DifferenceSide } from './graph/difference.ts'
import { packFile } from './file/flame-file.ts'

const MAX_PRINTED = 5

/** @throws Error if the file is missing or is not a CPU profile */
function readSide({ file, root, ...rest }: DifferenceInput): DifferenceSide {
  const profile = JSON.parse(readFileSync(file, 'utf8'))
  if (!Array.isArray(profile.nodes) || !Array.isArray(profile.samples)) throw new Error(`${file} is not a CPU profile`)
  // Node resolves links, so profiles have the real path.
  return { profile, root: existsSync(root) ? `${realpathSync(root)}/` : root, ...rest }
}

/**
 * Lists files that git detects as renamed between two checkouts: the new path of each former one. Empty if the folders
 * are not checkouts of one repository.
 */
function findRenames(own: string, base: string): Map<string, string> {
  const git = (folder: string, ...args: string[]) =>
    spawnSync('git', ['-C', folder, ...args], { encoding: 'utf8' }).stdout ?? ''
  const commit = git(base, 'rev-parse', 'HEAD').trim()
  const lines = git(own, 'diff', '--name-status', '--find-renames', '--diff-filter=R', commit, '--').split('\n')
  const renames = lines.map((line) => line.split('\t')).filter((columns) => columns.length === 3)
  return new Map(renames.map(([, former, current]) => [former!, current!]))
}

/** Writes the page of two profiles. @returns the totals and the functions with the largest growth, a line each */
export function writeDifference({ own, base, output, unit, title }: DifferenceOptions): string[] {
  const difference = readDifference(readSide(own), readSide(base), findRenames(own.root, base.root))
  mkdirSync(dirname(output), { recursive: true })
  writeFileSync(output, renderFlamePage(packFile(createDifferenceFile(title, unit, difference))))
  const grown = listChanges(difference).filter(({ change }) => change > 0)
  return [formatTotals(difference, unit), ...grown.slice(0, MAX_PRINTED).map(formatFunctionChange)]
}
