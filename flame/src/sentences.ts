import type { HotFunction } from './graph/hot-functions.ts'
import type { Finding } from './findings.ts'
import type { GraphSummary } from './hot-report.ts'

// Maximum difference between two shares that count as similar (percentage points).
const MAX_DIFFERENCE_POINTS = 10
const MAX_PARTS = 4

/** Returns the function with the largest own share of a graph. */
export const findTop = ({ functions }: GraphSummary): HotFunction | undefined =>
  functions.toSorted((a, b) => b.self - a.self)[0]

export const formatPercent = (share: number) => `${share.toFixed(2)} %`

/** Returns the function of this repository with the largest total share. */
const findLargestOfApp = ({ functions }: GraphSummary): HotFunction | undefined =>
  functions.filter(({ category }) => category === 'app').toSorted((a, b) => b.total - a.total)[0]

const formatLocation = ({ file, line }: HotFunction) => `\`${file}:${line}\``

/**
 * Formats the location of a function; for a native function, its main caller.
 * @param employers callers of the function with the largest own share
 */
function formatOrigin(hot: HotFunction, employers: GraphSummary['employers']): string {
  const [caller] = employers
  if (hot.category !== 'native') return ` (${formatLocation(hot)})`
  if (!caller || caller.share < hot.self / 2) return ' (native)'
  return ` (native, for ${caller.name.replace(/ \((.+)\)$/, ', `$1`')})`
}

/**
 * Formats the sentences `CPU: <function> (<location or caller>) takes X % <of> (self), Y % (total). The function of
 * this repository with the largest total is ...`.
 */
export function formatTopSentence(subject: string, graph: GraphSummary, of: string): string {
  const top = findTop(graph)
  if (!top) return `${subject}: no work.`
  const sentence = `${subject}: \`${top.function}\`${formatOrigin(top, graph.employers)} takes ${formatPercent(top.self)} ${of} (self), ${formatPercent(top.total)} (total).`
  const app = findLargestOfApp(graph)
  if (!app || app === top) return sentence
  return `${sentence} The function of this repository with the largest total is \`${app.function}\` (${formatLocation(app)}): ${formatPercent(app.total)}.`
}

/** Formats the components with the largest shares. */
export function formatShares({ parts, program, kind }: GraphSummary): string {
  const shares = parts.slice(0, MAX_PARTS).map(({ name, share }) => `${name} ${share.toFixed(1)} %`)
  const programText =
    kind === 'cpu'
      ? ` Not included: ${program.toFixed(1)} % of the thread's work, native code without JavaScript on the stack.`
      : ''
  return `By component: ${shares.join(', ')}.${programText}`
}

/** Formats the statement of the source about a component, and the comparison with our share. */
export function compareWithSource({ parts }: GraphSummary, { source, why }: Finding): string {
  if (!source) return `**The source** ${why}`
  const share = parts.find(({ name }) => name === source.part)?.share ?? 0
  const [top] = parts
  const isLargest = top?.name === source.part
  const isSimilar = source.share === undefined || Math.abs(source.share - share) <= MAX_DIFFERENCE_POINTS
  const here = `the ${source.part} takes ${formatPercent(share)}`
  const verdict =
    isLargest && isSimilar
      ? `The result here is similar: ${here}.`
      : isLargest
        ? `Here the same component is the largest, with a different share: ${here}.`
        : `Here the result differs: ${here}, and the largest component is the ${top?.name} with ${formatPercent(top?.share ?? 0)}.`
  return `**The source** names ${source.says}. ${verdict} ${why}`
}
