import type { HotFunction } from './hot.ts'
import type { Lesson } from './lessons.ts'
import type { Graph } from './recorded.ts'

// Shares further apart than this are another story (points).
const SAME = 10
const PARTS = 4

/** The function with the most of a graph in itself, whoever's it is. */
export const topOf = ({ functions }: Graph): HotFunction | undefined => functions.toSorted((a, b) => b.self - a.self)[0]

const percent = (share: number) => `${share.toFixed(2)} %`

/** The function of the app with the most in all it calls. */
const largestOfApp = ({ functions }: Graph): HotFunction | undefined =>
  functions.filter(({ category }) => category === 'app').toSorted((a, b) => b.total - a.total)[0]

/** Where a function is; of a native one, for whom it mostly works. */
function whereabouts({ file, line, category, self }: HotFunction, [employer]: Graph['employers']): string {
  if (category !== 'native') return ` (${file}:${line})`
  return employer && employer.share >= self / 2 ? ` (native, for ${employer.name})` : ' (native)'
}

/** `v1: <function> takes X % of CPU (self), Y % (total)`, where it is or for whom it works, and the app's largest. */
export function topSentence(subject: string, graph: Graph, of: string): string {
  const top = topOf(graph)
  if (!top) return `${subject}: nothing to do.`
  const sentence = `${subject}: \`${top.function}\`${whereabouts(top, graph.employers)} takes ${percent(top.self)} ${of} (self), ${percent(top.total)} (total).`
  const app = largestOfApp(graph)
  if (!app || app === top) return sentence
  return `${sentence} Of the app's own functions \`${app.function}\` (${app.file}:${app.line}) has the most in all it calls, ${percent(app.total)}.`
}

/** The parts with the largest shares. */
export function shareList({ parts, program, kind }: Graph): string {
  const shares = parts.slice(0, PARTS).map(({ name, share }) => `${name} ${share.toFixed(1)} %`)
  const beside =
    kind === 'cpu' ? `; beside it ${program.toFixed(1)} % of the thread's work has no JavaScript above it` : ''
  return `By part: ${shares.join(', ')}${beside}.`
}

/** What the source says of its like, and whether that is so here. */
export function againstSource({ parts }: Graph, { source, why }: Lesson): string {
  if (!source) return `**The source** ${why}`
  const share = parts.find(({ name }) => name === source.part)?.share ?? 0
  const [top] = parts
  const tops = top?.name === source.part
  const near = source.share === undefined || Math.abs(source.share - share) <= SAME
  const here = `the ${source.part} takes ${percent(share)}`
  const verdict =
    tops && near
      ? `Here it is so, too: ${here}.`
      : tops
        ? `Here the same part tops the graph with another share: ${here}.`
        : `Here it differs: ${here}, and the ${top?.name} tops the graph with ${percent(top?.share ?? 0)}.`
  return `**The source** names ${source.says}. ${verdict} ${why}`
}
