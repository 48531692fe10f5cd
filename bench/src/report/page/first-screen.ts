import type { Ratio } from '../../ratios.ts'
import { MIN_CONFIDENCE } from '../../statistics.ts'
import { compareSources } from '../compare-sources.ts'
import { listPeerComparisons, type PeerComparison } from '../conclusions.ts'
import { formatBounds, formatFactor } from '../format-numbers.ts'
import { formatOrigins } from '../prose.ts'
import type { PublishedTable } from '../results.ts'
import { countOutcomes } from '../source-pages.ts'
import { escape } from '../svg.ts'

/** A comparison of the first screen: a widely used alternative to a service. */
interface Headline {
  /** Matches the titles of comparisons; the first that matches is shown. */
  readonly pattern: RegExp
  readonly work: string
  readonly alternative: string
}

const HEADLINES = {
  stats: { pattern: /^stats\/.* \/ nginx static file$/, work: 'stats: a read', alternative: 'nginx' },
  kv: { pattern: /^kv\/peers: GET\b.* \/ GET\b.*Redis/, work: 'kv: a GET', alternative: 'Redis with webdis' },
  sse: { pattern: /^sse\/.* \/ Centrifugo/, work: 'sse: a delivery', alternative: "Centrifugo's engine" },
  prices: { pattern: /^prices\/.* \/ Go: net\/http/, work: 'prices: a search', alternative: 'a bare Go server' },
  cluster: {
    pattern: /^cluster\/.*kv, 1 connection \/ NATS KV/,
    work: 'kv, three nodes: one write at a time',
    alternative: 'NATS KV',
  },
} as const satisfies Readonly<Record<string, Headline>>

type HeadlineName = keyof typeof HEADLINES

/** Medians and intervals of a comparison on all measured kinds of processors. */
interface HeadlineRatio {
  readonly lowest: number
  readonly highest: number
  readonly medians: readonly [lowest: number, highest: number]
}

/** Returns the interval of a ratio, or its median if there were too few starts for an interval. */
const toInterval = ({ low, high, median, confidence }: Ratio) =>
  confidence < MIN_CONFIDENCE ? [median, median] : [low, high]

/** Combines the ratios of a comparison on all kinds of processors. */
function findHeadline(all: readonly PeerComparison[], { pattern }: Headline): HeadlineRatio | undefined {
  const first = all.find(({ title }) => pattern.test(title))
  const ratios = all.filter(({ title }) => title === first?.title).map(({ ratio }) => ratio)
  if (ratios.length === 0) return undefined
  const medians = ratios.map(({ median }) => median)
  const bounds = ratios.flatMap(toInterval)
  return {
    lowest: Math.min(...bounds),
    highest: Math.max(...bounds),
    medians: [Math.min(...medians), Math.max(...medians)],
  }
}

const format = (value: number) => formatFactor(value, 2)

/** Formats a ratio with its lowest and highest value: `0.73 (0.70 to 0.76)`. */
function formatRange({ lowest, highest, medians: [low, high] }: HeadlineRatio): string {
  const middle = low === high ? format(low) : `${format(low)} to ${format(high)}`
  return `${middle}${formatBounds(lowest, highest, 2)}`
}

const isWorse = ({ medians: [, high] }: HeadlineRatio) => high > 1

/** Renders one bar. @param max the ratio at the end of the track */
function renderBar({ work, alternative }: Headline, ratio: HeadlineRatio, max: number): string {
  const share = (value: number) => `${((100 * value) / max).toFixed(1)}%`
  const width = `${((100 * (ratio.highest - ratio.lowest)) / max).toFixed(1)}%`
  return `<div class="bar${isWorse(ratio) ? ' worse' : ''}"><span class="bar-label">${escape(work)} / ${escape(alternative)}</span><span class="track"><i class="fill" style="width:${share(ratio.medians[1])}"></i><i class="whisker" style="left:${share(ratio.lowest)};width:${width}"></i><i class="one" style="left:${share(1)}"></i></span><span class="bar-value">${formatRange(ratio)}</span></div>`
}

/** Renders the first screen: five sentences and five linear bars. A comparison without a result is omitted. */
export function renderFirstScreen(published: readonly PublishedTable[]): string {
  const all = listPeerComparisons(published)
  const found = Object.entries(HEADLINES).flatMap(([name, headline]) => {
    const ratio = findHeadline(all, headline)
    return ratio ? [{ name: name as HeadlineName, headline, ratio }] : []
  })
  const say = (name: HeadlineName) => {
    const one = found.find((each) => each.name === name)
    return one ? `${formatRange(one.ratio)} times` : 'an unmeasured multiple of'
  }
  const judged = all.filter(({ verdict }) => verdict === 'better' || verdict === 'worse')
  const worse = judged.filter(({ verdict }) => verdict === 'worse')
  const counts = countOutcomes(compareSources(published))
  const sentences = [
    'Influencer Stats is a self-hosted backend for campaigns of videos on YouTube: four services on Node.js, each useful alone.',
    `A read of <b>stats</b> takes ${say('stats')} the CPU time of one from nginx, and a GET of <b>kv</b> ${say('kv')} that of one from Redis with webdis.`,
    `A delivery to an open page by <b>sse</b> takes ${say('sse')} the CPU time of Centrifugo’s engine, and a search by <b>prices</b> ${say('prices')} that of a Go server that only parses it.`,
    `It is not fast where one write at a time goes through a cluster (${say('cluster')} the CPU time of NATS KV), and where LevelDB is compared with a constant reply: <a href="#conclusions">${worse.length} of ${judged.length} comparisons</a> favour the other program.`,
    `The four projects that it reimplements publish <a href="#sources">${counts.rows} rows</a>: ours is better or equal in all judged values of ${counts.ahead}, and worse in some value of ${counts.behind}.`,
  ]
  const max = Math.max(1.2, ...found.map(({ ratio }) => ratio.highest)) * 1.02
  const bars = found.map(({ headline, ratio }) => renderBar(headline, ratio, max)).join('\n')
  return `<section class="first">${sentences.map((sentence) => `<p>${sentence}</p>`).join('\n')}
<figure><figcaption>CPU time of one operation, ours / the alternative. Linear; the line marks 1, so a shorter bar is better. Dark lines are intervals of 95 %.</figcaption><div class="bars" role="img" aria-label="CPU time of one operation, ours divided by the alternative">${bars}</div></figure>
<p class="machine">Measured on ${escape(formatOrigins(published))}. Every table names its machine.</p></section>`
}
