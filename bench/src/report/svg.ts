const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

/** A plot and what it shows. */
export interface Figure {
  readonly title: string
  readonly svg: string
}

/** One bar: its label, its value, and how far the value spread. */
export interface Bar {
  readonly label: string
  readonly value: number
  readonly low?: number
  readonly high?: number
  /** What a source measured of the like. */
  readonly reference?: number
}

const WIDTH = 860
const NUMBER = 150
const BAR = 22
const GAP = 8

/** Room for the longest label: no letter of the 13 px font is wider than 7 px on average. */
const labelRoom = (rows: readonly { readonly label: string }[]) =>
  20 + 7 * Math.max(...rows.map(({ label }) => label.length))

/** Horizontal bars with whiskers; a tick where there is a reference. */
export function bars(rows: readonly Bar[], format: (value: number) => string): string {
  const most = Math.max(...rows.map(({ value, high = value, reference = 0 }) => Math.max(high, reference)), 1e-9)
  const left = labelRoom(rows)
  const scale = (value: number) => (value / most) * (WIDTH - left - NUMBER)
  const lines = rows.map(({ label, value, low = value, high = value, reference }, i) => {
    const y = i * (BAR + GAP)
    const middle = y + BAR / 2
    const tick =
      reference === undefined
        ? ''
        : `<line class="reference" x1="${left + scale(reference)}" x2="${left + scale(reference)}" y1="${y - 2}" y2="${y + BAR + 2}"><title>the source: ${format(reference)}</title></line>`
    return `<text class="label" x="${left - 10}" y="${middle}">${escape(label)}</text>
<rect x="${left}" y="${y}" width="${scale(value).toFixed(1)}" height="${BAR}" rx="3"/>
<line class="whisker" x1="${left + scale(low)}" x2="${left + scale(high)}" y1="${middle}" y2="${middle}"/>${tick}
<text class="value" x="${(left + scale(high) + 8).toFixed(1)}" y="${middle}">${format(value)}</text>`
  })
  const height = rows.length * (BAR + GAP)
  return `<svg viewBox="0 -4 ${WIDTH} ${height + 4}" role="img">${lines.join('\n')}</svg>`
}

/** One curve: values at named points of the x axis. */
export interface Curve {
  readonly label: string
  readonly values: readonly number[]
}

const HEIGHT = 300
const COLORS = [
  '#2f6fde',
  '#d9480f',
  '#2b8a3e',
  '#862e9c',
  '#c2255c',
  '#0b7285',
  '#846358',
  '#e67700',
  '#495057',
  '#5f3dc4',
]

/** Curves over common points, the y axis logarithmic. */
export function curves(lines: readonly Curve[], points: readonly string[], format: (value: number) => string): string {
  const all = lines.flatMap(({ values }) => values).filter((value) => value > 0)
  const [low, high] = [Math.floor(Math.log10(Math.min(...all))), Math.ceil(Math.log10(Math.max(...all)))]
  const right = WIDTH - labelRoom(lines)
  const x = (i: number) => 70 + (i / (points.length - 1)) * (right - 70)
  const y = (value: number) => 10 + (1 - (Math.log10(value) - low) / Math.max(1, high - low)) * (HEIGHT - 40)
  const grid = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i)).map(
    (value) =>
      `<line class="grid" x1="70" x2="${x(points.length - 1)}" y1="${y(value)}" y2="${y(value)}"/><text class="label" x="62" y="${y(value)}">${format(value)}</text>`,
  )
  const ticks = points.map((point, i) => `<text class="tick" x="${x(i)}" y="${HEIGHT - 8}">${point}</text>`)
  const drawn = lines.map(({ label, values }, i) => {
    const color = COLORS[i % COLORS.length]
    const path = values.map((value, j) => `${j === 0 ? 'M' : 'L'}${x(j).toFixed(1)} ${y(value).toFixed(1)}`).join('')
    return `<path d="${path}" stroke="${color}"/><text class="legend" x="${right + 15}" y="${18 + i * 20}" fill="${color}">${escape(label)}</text>`
  })
  return `<svg class="curves" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img">${[...grid, ...ticks, ...drawn].join('\n')}</svg>`
}

export { escape }
