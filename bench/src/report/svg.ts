export const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

/** A plot with its title. */
export interface Plot {
  readonly title: string
  readonly svg: string
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
const NUMBER_WIDTH_PX = 150
const BAR_HEIGHT_PX = 22
const BAR_GAP_PX = 8
/**
 * Maximum ratio of the longest to the shortest bar with linear lengths. Beyond it lengths are logarithmic, so that
 * short bars are visible.
 */
const MAX_LINEAR_RATIO = 50

/** Estimates the width of the longest label (px): at most 7 px per letter of the 13 px font. */
const getLabelWidth = (rows: readonly { readonly label: string }[]) =>
  20 + 7 * Math.max(...rows.map(({ label }) => label.length))

const wrapSvg = (title: string, kind: string, top: number, height: number, parts: readonly string[]): Plot => {
  const box = `0 ${top} ${WIDTH_PX} ${height - top}`
  return {
    title,
    svg: `<svg class="${kind}" viewBox="${box}" role="img" aria-label="${escape(title)}">${parts.join('\n')}</svg>`,
  }
}

/** Renders horizontal bars with their ranges. A mark shows the value of the source. */
export function renderBars(title: string, rows: readonly Bar[], format: NumberFormat): Plot {
  const all = rows.flatMap(({ value, high, reference }) => [value, high, reference ?? value])
  const [smallest, largest] = [Math.min(...all.filter((value) => value > 0)), Math.max(...all, 1e-9)]
  const isLog = largest > MAX_LINEAR_RATIO * smallest
  const left = getLabelWidth(rows)
  const share = (value: number) =>
    isLog
      ? (Math.log(Math.max(value, smallest / 2) / smallest) + 1) / (Math.log(largest / smallest) + 1)
      : value / largest
  const scale = (value: number) => share(value) * (WIDTH_PX - left - NUMBER_WIDTH_PX)
  const lines = rows.map(({ label, value, low, high, reference }, i) => {
    const y = i * (BAR_HEIGHT_PX + BAR_GAP_PX)
    const middle = y + BAR_HEIGHT_PX / 2
    const tick =
      reference === undefined
        ? ''
        : `<line class="reference" x1="${left + scale(reference)}" x2="${left + scale(reference)}" y1="${y - 2}" y2="${y + BAR_HEIGHT_PX + 2}"><title>the source: ${format(reference)}</title></line>`
    return `<text class="label" x="${left - 10}" y="${middle}">${escape(label)}</text>
<rect x="${left}" y="${y}" width="${Math.max(0, scale(value)).toFixed(1)}" height="${BAR_HEIGHT_PX}" rx="3"/>
<line class="whisker" x1="${left + scale(low)}" x2="${left + scale(high)}" y1="${middle}" y2="${middle}"/>${tick}
<text class="value" x="${(left + scale(high) + 8).toFixed(1)}" y="${middle}">${format(value)}</text>`
  })
  return wrapSvg(
    isLog ? `${title}; lengths are logarithms` : title,
    'bars',
    -4,
    rows.length * (BAR_HEIGHT_PX + BAR_GAP_PX),
    lines,
  )
}

/** A curve with its label. */
export interface Curve {
  readonly label: string
  readonly points: readonly (readonly [x: number, y: number])[]
}

const HEIGHT_PX = 300
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
  const right = WIDTH_PX - getLabelWidth(lines)
  const along = (value: number) => (isNamed ? value : Math.log(value))
  const xs = [...ticks.keys()].map(along)
  const [first, last] = [Math.min(...xs), Math.max(...xs)]
  const x = (value: number) => 70 + ((along(value) - first) / Math.max(1e-9, last - first)) * (right - 70)
  const y = (value: number) =>
    10 + (1 - (Math.log10(Math.max(value, 10 ** low)) - low) / Math.max(1, high - low)) * (HEIGHT_PX - 40)
  const grid = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i)).map(
    (value) =>
      `<line class="grid" x1="70" x2="${right}" y1="${y(value)}" y2="${y(value)}"/><text class="label" x="62" y="${y(value)}">${format(value)}</text>`,
  )
  const marks = Array.from(
    ticks,
    ([at, text]) => `<text class="tick" x="${x(at)}" y="${HEIGHT_PX - 8}">${escape(text)}</text>`,
  )
  const paths = lines.map(({ label, points }, i) => {
    const color = COLORS[i % COLORS.length]
    const path = points.map(([at, value], j) => `${j === 0 ? 'M' : 'L'}${x(at).toFixed(1)} ${y(value).toFixed(1)}`)
    return `<path d="${path.join('')}" stroke="${color}"/><text class="legend" x="${right + 15}" y="${18 + i * 20}" fill="${color}">${escape(label)}</text>`
  })
  const height = Math.max(HEIGHT_PX, 20 * lines.length + 10)
  return wrapSvg(title, 'curves', 0, height, [...grid, ...marks, ...paths])
}
