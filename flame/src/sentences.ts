import type { HotFunction } from './hot-functions.ts'
import type { Finding } from './findings.ts'
import type { GraphSummary } from './hot-report.ts'

// A larger difference is a different result (percentage points).
const MAX_DIFFERENCE_POINTS = 10
const MAX_PARTS = 4

/** The function of any origin with the largest own share of a graph. */
export const findTop = ({ functions }: GraphSummary): HotFunction | undefined =>
  functions.toSorted((a, b) => b.self - a.self)[0]

const formatPercent = (share: number) => `${share.toFixed(2)} %`

/** The function of the app with the largest total share. */
const findLargestOfApp = ({ functions }: GraphSummary): HotFunction | undefined =>
  functions.filter(({ category }) => category === 'app').toSorted((a, b) => b.total - a.total)[0]

const formatLocation = ({ file, line }: HotFunction) => `\`${file}:${line}\``

/** Location of a function; for a native one, its main caller. */
function formatOrigin(hot: HotFunction, [caller]: GraphSummary['employers']): string {
  if (hot.category !== 'native') return ` (${formatLocation(hot)})`
  if (!caller || caller.share < hot.self / 2) return ' (native)'
  return ` (native, for ${caller.name.replace(/ \((.+)\)$/, ', `$1`')})`
}

/** `v1: <function> takes X % of CPU (self), Y % (total)`, its location or caller, and the app's largest function. */
export function formatTopSentence(subject: string, graph: GraphSummary, of: string): string {
  const top = findTop(graph)
  if (!top) return `${subject}: no work.`
  const sentence = `${subject}: \`${top.function}\`${formatOrigin(top, graph.employers)} takes ${formatPercent(top.self)} ${of} (self), ${formatPercent(top.total)} (total).`
  const app = findLargestOfApp(graph)
  if (!app || app === top) return sentence
  return `${sentence} The function of this repository with the largest total is \`${app.function}\` (${formatLocation(app)}): ${formatPercent(app.total)}.`
}

/** The components with the largest shares. */
export function formatShares({ parts, program, kind }: GraphSummary): string {
  const shares = parts.slice(0, MAX_PARTS).map(({ name, share }) => `${name} ${share.toFixed(1)} %`)
  const programText =
    kind === 'cpu'
      ? ` Not included: ${program.toFixed(1)} % of the thread's work, native code without JavaScript on the stack.`
      : ''
  return `By component: ${shares.join(', ')}.${programText}`
}

/** Statement of the source about the comparable component, and whether it holds here. */
export function compareWithSource({ parts }: GraphSummary, { source, why }: Finding): string {
  if (!source) return `**The source** ${why}`
  const share = parts.find(({ name }) => name === source.part)?.share ?? 0
  const [top] = parts
  const tops = top?.name === source.part
  const near = source.share === undefined || Math.abs(source.share - share) <= MAX_DIFFERENCE_POINTS
  const here = `the ${source.part} takes ${formatPercent(share)}`
  const verdict =
    tops && near
      ? `The result here is similar: ${here}.`
      : tops
        ? `Here the same component is the largest, with a different share: ${here}.`
        : `Here the result differs: ${here}, and the largest component is the ${top?.name} with ${formatPercent(top?.share ?? 0)}.`
  return `**The source** names ${source.says}. ${verdict} ${why}`
}
