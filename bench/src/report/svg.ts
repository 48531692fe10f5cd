export const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

/** A plot with its title. */
export interface Plot {
  readonly title: string
  readonly html: string
}

/** One bar: its label, its value, and the range of the value. */
export interface Bar {
  readonly label: string
  readonly value: number
  readonly low: number
  readonly high: number
  /** Value of the source. */
  readonly reference?: number | undefined
}

type NumberFormat = (value: number) => string

const WIDTH_PX = 860
/** Renders horizontal bars of linear lengths with their ranges. A mark shows the value of the source. */
export function renderBars(title: string, rows: readonly Bar[], format: NumberFormat): Plot {
  const largest = Math.max(...rows.flatMap(({ value, high, reference }) => [value, high, reference ?? value]), 1e-9)
  const toPercent = (value: number) => `${((100 * value) / largest).toFixed(1)}%`
  const lines = rows.map(({ label, value, low, high, reference }) => {
    const mark =
      reference === undefined
        ? ''
        : `<i class="reference" style="left:${toPercent(reference)}" title="the source: ${format(reference)}"></i>`
    return `<div class="bar"><span class="bar-label">${escape(label)}</span><span class="track"><i class="fill" style="width:${toPercent(value)}"></i><i class="whisker" style="left:${toPercent(low)};width:${toPercent(high - low)}"></i>${mark}</span><span class="bar-value">${format(value)}</span></div>`
  })
  return { title, html: `<div class="bars" role="img" aria-label="${escape(title)}">${lines.join('\n')}</div>` }
}

/** A curve with its label. */
export interface Curve {
  readonly label: string
  readonly points: readonly (readonly [x: number, y: number])[]
}

const HEIGHT_PX = 300
const LEFT_MARGIN_PX = 110
/** Space for half of the last label of the x axis. */
const RIGHT_MARGIN_PX = 90
const COLORS = '#2f6fde #d9480f #2b8a3e #862e9c #c2255c #0b7285 #846358 #e67700 #495057 #5f3dc4'.split(' ')

/**
 * Renders curves with a logarithmic y axis.
 * @param ticks labels of points on the x axis
 * @param isNamed true if the points of the x axis have names; otherwise this axis is logarithmic, too
 */
export function renderCurves(
  title: string,
  lines: readonly Curve[],
  ticks: ReadonlyMap<number, string>,
  format: NumberFormat,
  isNamed = false,
): Plot {
  const ys = lines.flatMap(({ points }) => points.map(([, y]) => y)).filter((value) => value > 0)
  const [low, high] = [Math.floor(Math.log10(Math.min(...ys))), Math.ceil(Math.log10(Math.max(...ys)))]
  const right = WIDTH_PX - RIGHT_MARGIN_PX
  const along = (value: number) => (isNamed ? value : Math.log(value))
  const xs = [...ticks.keys()].map(along)
  const [first, last] = [Math.min(...xs), Math.max(...xs)]
  const x = (value: number) =>
    LEFT_MARGIN_PX + ((along(value) - first) / Math.max(1e-9, last - first)) * (right - LEFT_MARGIN_PX)
  const y = (value: number) =>
    20 + (1 - (Math.log10(Math.max(value, 10 ** low)) - low) / Math.max(1, high - low)) * (HEIGHT_PX - 60)
  const grid = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i)).map(
    (value) =>
      `<line class="grid" x1="${LEFT_MARGIN_PX}" x2="${right}" y1="${y(value)}" y2="${y(value)}"/><text class="label" x="${LEFT_MARGIN_PX - 8}" y="${y(value)}">${format(value)}</text>`,
  )
  const marks = Array.from(
    ticks,
    ([at, text]) => `<text class="tick" x="${x(at)}" y="${HEIGHT_PX - 8}">${escape(text)}</text>`,
  )
  const paths = lines.map(({ label, points }, i) => {
    const color = COLORS[i % COLORS.length]
    const path = points.map(([at, value], j) => `${j === 0 ? 'M' : 'L'}${x(at).toFixed(1)} ${y(value).toFixed(1)}`)
    return {
      path: `<path d="${path.join('')}" stroke="${color}"/>`,
      legend: `<li><i style="background:${color}"></i>${escape(label)}</li>`,
    }
  })
  const parts = [...grid, ...marks, ...paths.map(({ path }) => path)].join('\n')
  const html = `<svg class="curves" viewBox="0 0 ${WIDTH_PX} ${HEIGHT_PX}" role="img" aria-label="${escape(title)}">${parts}</svg>
<ul class="legend">${paths.map(({ legend }) => legend).join('')}</ul>`
  return { title, html }
}
