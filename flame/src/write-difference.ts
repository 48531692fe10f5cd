import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DifferenceInput, DifferenceOptions } from './difference-arguments.ts'
import { formatFunctionChange, formatTotals, renderDifferencePage } from './difference-page.ts'
import { listChanges, readDifference, type DifferenceSide } from './difference.ts'

const MAX_PRINTED = 5

/** @throws Error if the file is missing or is not a CPU profile */
function readSide({ file, root, ...rest }: DifferenceInput): DifferenceSide {
  const profile = JSON.parse(readFileSync(file, 'utf8'))
  if (!Array.isArray(profile.nodes) || !Array.isArray(profile.samples)) throw new Error(`${file} is not a CPU profile`)
  // Node resolves links, so profiles have the real path.
  return { profile, root: existsSync(root) ? `${realpathSync(root)}/` : root, ...rest }
}

/** Writes the page of two profiles. @returns the totals and the functions with the largest growth, a line each */
export function writeDifference({ own, base, output, unit, title }: DifferenceOptions): string[] {
  const difference = readDifference(readSide(own), readSide(base))
  mkdirSync(dirname(output), { recursive: true })
  writeFileSync(output, renderDifferencePage({ title, unit, difference }))
  const grown = listChanges(difference).filter(({ change }) => change > 0)
  return [formatTotals(difference, unit), ...grown.slice(0, MAX_PRINTED).map(formatFunctionChange)]
}
