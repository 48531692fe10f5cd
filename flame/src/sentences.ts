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

/** Location of a function; for a native one, its main caller. */
function formatLocation({ file, line, category, self }: HotFunction, [caller]: GraphSummary['employers']): string {
  if (category !== 'native') return ` (${file}:${line})`
  return caller && caller.share >= self / 2 ? ` (native, for ${caller.name})` : ' (native)'
}

/** `v1: <function> takes X % of CPU (self), Y % (total)`, its location or caller, and the app's largest function. */
export function formatTopSentence(subject: string, graph: GraphSummary, of: string): string {
  const top = findTop(graph)
  if (!top) return `${subject}: nothing to do.`
  const sentence = `${subject}: \`${top.function}\`${formatLocation(top, graph.employers)} takes ${formatPercent(top.self)} ${of} (self), ${formatPercent(top.total)} (total).`
  const app = findLargestOfApp(graph)
  if (!app || app === top) return sentence
  return `${sentence} Of the app's own functions \`${app.function}\` (${app.file}:${app.line}) has the most in all it calls, ${formatPercent(app.total)}.`
}

/** The parts with the largest shares. */
export function formatShares({ parts, program, kind }: GraphSummary): string {
  const shares = parts.slice(0, MAX_PARTS).map(({ name, share }) => `${name} ${share.toFixed(1)} %`)
  const programText =
    kind === 'cpu' ? `; beside it ${program.toFixed(1)} % of the thread's work has no JavaScript above it` : ''
  return `By part: ${shares.join(', ')}${programText}.`
}

/** Statement of the source about the comparable part, and whether it holds here. */
export function compareWithSource({ parts }: GraphSummary, { source, why }: Finding): string {
  if (!source) return `**The source** ${why}`
  const share = parts.find(({ name }) => name === source.part)?.share ?? 0
  const [top] = parts
  const tops = top?.name === source.part
  const near = source.share === undefined || Math.abs(source.share - share) <= MAX_DIFFERENCE_POINTS
  const here = `the ${source.part} takes ${formatPercent(share)}`
  const verdict =
    tops && near
      ? `Here it is so, too: ${here}.`
      : tops
        ? `Here the same part tops the graph with another share: ${here}.`
        : `Here it differs: ${here}, and the ${top?.name} tops the graph with ${formatPercent(top?.share ?? 0)}.`
  return `**The source** names ${source.says}. ${verdict} ${why}`
}
