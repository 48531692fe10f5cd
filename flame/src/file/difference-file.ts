import { formatTable } from '@influencer-stats/runtime/text-table'
import {
  listChanges,
  measureChange,
  type DifferenceCall,
  type FunctionChange,
  type ProfileDifference,
} from '../graph/difference.ts'
import { createFlameFile, type DifferenceFile } from './flame-file.ts'
import type { StackFrame } from '../graph/frames.ts'

/** Rows of each table below the graph: functions that grew, and functions that shrank. */
const MAX_ROWS = 15

const formatTime = (microseconds: number) => microseconds.toFixed(Math.abs(microseconds) < 10 ? 3 : 1)
const formatChange = (change: number) => `${change < 0 ? '-' : '+'}${formatTime(Math.abs(change))}`

function formatLocation({ file, line }: StackFrame): string {
  if (file === '') return 'native code'
  return line > 0 ? `${file}:${line}` : file
}

/** One line: the change of a function per unit (us), with its noise. */
export const formatFunctionChange = ({ frame, change, noise }: FunctionChange): string =>
  `${formatChange(change)} us (± ${formatTime(noise)})  ${frame.name}  ${formatLocation(frame)}`

/** Largest changes of self time as lines of a table: growth, or decline. */
function formatChanges(changes: readonly FunctionChange[], names: NonNullable<DifferenceFile['names']>): string[] {
  const rows = changes.slice(0, MAX_ROWS).map(({ frame, own, base, change, noise }) => {
    const times = [`${formatChange(change)} ± ${formatTime(noise)}`, formatTime(base), formatTime(own)]
    return [...times, frame.name, formatLocation(frame)]
  })
  return formatTable([['change', names[1], names[0], 'function', 'location'], ...rows])
}

/** The functions of two variants with the largest changes, as tables: microseconds of self time per unit. */
export function formatLargestChanges(
  difference: ProfileDifference,
  unit: string,
  names: NonNullable<DifferenceFile['names']>,
): string[] {
  const changes = listChanges(difference)
  const grown = changes.filter(({ change }) => change > 0)
  const shrunk = changes.filter(({ change }) => change < 0).toReversed()
  const title = (verb: string) => `Functions that cost ${verb} with ${names[0]} (us per ${unit}, self):`
  return [title('more'), ...formatChanges(grown, names), '', title('less'), ...formatChanges(shrunk, names)]
}

/** One sentence: processor time of both sides per unit. */
export function formatTotals(difference: ProfileDifference, unit: string, baseName = 'base'): string {
  const { own, base, change, noise } = measureChange(difference.total, difference)
  const percent = base > 0 ? `, ${change < 0 ? '' : '+'}${((100 * change) / base).toFixed(1)} %` : ''
  return `${formatTime(own)} us per ${unit}; ${baseName} ${formatTime(base)} us: ${formatChange(change)} us (± ${formatTime(noise)}${percent})`
}

/** Converts two profiles to a file of the viewer, with the functions that changed most. */
export function createDifferenceFile(
  title: string,
  unit: string,
  difference: ProfileDifference,
  names?: DifferenceFile['names'],
): DifferenceFile {
  const { root, total, perSample } = difference
  const changes = listChanges(difference)
  const description = `Processor time of the thread: ${formatTotals(difference, unit, names?.[1])}. ${total.own} and ${total.base} samples with work. Times are microseconds per ${unit}. Functions match by name and file. ± is twice the standard deviation that chance gives to the samples.`
  const sides = (['own', 'base'] as const).map((side) => ({
    name: side,
    unit: 'samples' as const,
    total: total[side],
    getSelf: (call: DifferenceCall) => call[side],
  }))
  return {
    ...createFlameFile({ name: title, description }, root, sides),
    unit,
    ...(names && { names }),
    perSample: [perSample.own, perSample.base],
    changes: [
      ...changes.filter(({ change }) => change > 0).slice(0, MAX_ROWS),
      ...changes
        .filter(({ change }) => change < 0)
        .toReversed()
        .slice(0, MAX_ROWS),
    ],
  }
}
