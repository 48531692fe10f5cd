import uPlot, { type AlignedData, type Options } from 'uplot'
import { useEffect, useRef, useState } from 'preact/hooks'
import { html } from '../html.ts'
import { formats } from '../page-state.ts'

const DARK_SCHEME = matchMedia('(prefers-color-scheme: dark)')
const HEIGHT_PX = 280
/** Lines differ in their dashes, in addition to their colours. */
const LINE_DASHES = [[], [8, 4], [2, 3], [12, 4, 2, 4], [4, 4], [16, 4]]

interface ChartProps {
  /** Times (s) or other values that `x` formats, then one array of values per line. */
  readonly data: AlignedData
  /** Names of the lines. */
  readonly names: readonly string[]
  /** Formats a value of the x axis. */
  x(value: number): string
  y(value: number): string
  /** Formats values for the y axis, in short form. */
  yShort(values: readonly number[]): string[]
  /** True if the x axis shows times. */
  readonly isTime: boolean
  /** True if the y axis begins at 0. */
  readonly isFromZero: boolean
  /** Times with a vertical line, in the unit of the x axis. */
  readonly marks?: readonly { readonly at: number; readonly text: string }[]
  /** Description of the chart for screen readers. */
  readonly summary: string
}

const readColor = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

function createOptions(
  { names, isTime, isFromZero, x, yShort, data }: ChartProps,
  width: number,
  onMove: (index: number | undefined) => void,
  marks: () => ChartProps['marks'],
): Options {
  const axis = {
    stroke: readColor('--quiet'),
    grid: { stroke: readColor('--line'), width: 1 },
    ticks: { show: false },
    font: '12px system-ui',
  }
  const isOne = names.length === 1
  return {
    width,
    height: HEIGHT_PX,
    legend: { show: false },
    cursor: { y: false, drag: { setScale: false }, points: { size: 8 } },
    scales: { x: { time: isTime }, ...(isFromZero && { y: { range: getRangeFromZero } }) },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 90,
        size: 30,
        values: (_chart, splits, _axis, _space, step) => splits.map(isTime ? (at) => formatAxisTime(at, step) : x),
      },
      { ...axis, size: (_chart, texts) => computeWidth(texts ?? []), values: (_chart, splits) => yShort(splits) },
    ],
    series: [
      {},
      ...names.map((label, i) => ({
        label,
        stroke: readColor(`--series-${i + 1}`),
        width: 2,
        dash: LINE_DASHES[i]!,
        spanGaps: true,
        points: { show: data[0].length < 3 },
        ...(isOne && { fill: readColor('--area') }),
      })),
    ],
    hooks: {
      setCursor: [({ cursor }) => onMove(cursor.idx ?? undefined)],
      draw: [(chart) => drawMarks(chart, marks() ?? [])],
    },
  }
}

/** A vertical line for each mark. */
function drawMarks({ ctx, bbox, scales, valToPos }: uPlot, marks: NonNullable<ChartProps['marks']>): void {
  const { min, max } = scales.x ?? {}
  ctx.save()
  ctx.strokeStyle = readColor('--warn')
  ctx.lineWidth = devicePixelRatio
  ctx.setLineDash([4, 4])
  for (const { at } of marks) {
    if (at < (min ?? Infinity) || at > (max ?? -Infinity)) continue
    const x = Math.round(valToPos(at, 'x', true))
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bbox.top + bbox.height)
    ctx.stroke()
  }
  ctx.restore()
}

/** Estimated width of the y axis with these texts (px). */
const computeWidth = (texts: readonly string[]) => 14 + 7 * Math.max(3, ...texts.map(({ length }) => length))

const MINUTE_S = 60
const DAY_S = 86_400

/** Formats a time at the axis (s): the day if the step is a day or if a day begins, otherwise the time of day. */
function formatAxisTime(seconds: number, step: number): string {
  const at = new Date(seconds * 1_000)
  const isDay = step >= DAY_S || (at.getHours() === 0 && at.getMinutes() === 0)
  if (isDay) return formats.shortDay(+at)
  return step < MINUTE_S ? formats.second(+at) : formats.time(+at)
}

/** The range of the y axis: with space above the highest value, and below zero only if there are negative values. */
const getRangeFromZero = (_chart: uPlot, lower: number | null, upper: number | null): [number, number] => [
  Math.min(0, lower ?? 0),
  1.1 * Math.max(1, upper ?? 1),
]

/** The last known value of a line at an index of the x axis: lines have their points at different times. */
function findKnown(values: AlignedData[number], index: number): number | undefined {
  for (let i = index; i >= 0; i--) if (values[i] !== null && values[i] !== undefined) return values[i]!
  return undefined
}

/** A chart of lines. The pointer and the arrow keys select the values to read. */
export function Chart(props: ChartProps) {
  const { data, names, summary } = props
  const box = useRef<HTMLDivElement>(null)
  const chart = useRef<uPlot>(undefined)
  const [index, setIndex] = useState<number | undefined>()
  const last = data[0].length - 1
  const shown = Math.min(index ?? last, last)

  const newest = useRef(props)
  newest.current = props

  useEffect(() => {
    const element = box.current!
    const draw = () => {
      chart.current?.destroy()
      chart.current = new uPlot(
        createOptions(newest.current, element.clientWidth, setIndex, () => newest.current.marks),
        newest.current.data,
        element,
      )
    }
    draw()
    const observer = new ResizeObserver(() => {
      const { clientWidth: width } = element
      if (width > 0 && width !== chart.current?.width) chart.current?.setSize({ width, height: HEIGHT_PX })
    })
    observer.observe(element)
    DARK_SCHEME.addEventListener('change', draw)
    return () => {
      observer.disconnect()
      DARK_SCHEME.removeEventListener('change', draw)
      chart.current?.destroy()
      chart.current = undefined
    }
  }, [names.join('\n'), props.isTime, props.isFromZero])
  // New data do not move the pointer.
  useEffect(() => chart.current?.setData(data), [data, props.marks])

  function onKeyDown(event: KeyboardEvent) {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const next = Math.max(0, Math.min(last, shown + step))
    setIndex(next)
    chart.current?.setCursor({ left: chart.current.valToPos(data[0][next]!, 'x'), top: 0 })
  }

  return html`<figure class="chart">
    <figcaption class="readout">
      <span class="when">${last >= 0 ? props.x(data[0][shown]!) : ''}</span>
      ${names.map((name, i) => {
        const value = findKnown(data[i + 1]!, shown)
        return html`<span class="value" key=${i}>
          ${names.length > 1 && html`<i class=${`swatch s${i + 1}`} aria-hidden="true"></i><bdi>${name}</bdi>`}
          <b>${value === undefined ? '–' : props.y(value)}</b>
        </span>`
      })}
    </figcaption>
    <div
      ref=${box}
      class="plot"
      tabindex="0"
      role="slider"
      aria-label=${summary}
      aria-valuemin="0"
      aria-valuemax=${Math.max(0, last)}
      aria-valuenow=${Math.max(0, shown)}
      aria-valuetext=${last >= 0 ? describePoint(props, shown) : ''}
      onKeyDown=${onKeyDown}
    ></div>
  </figure>`
}

function describePoint({ data, names, x, y }: ChartProps, index: number): string {
  const values = names.map((name, i) => {
    const value = findKnown(data[i + 1]!, index)
    return `${name} ${value === undefined ? 'unknown' : y(value)}`
  })
  return `${x(data[0][index]!)}: ${values.join(', ')}`
}

/** Formats a value of the x axis if the axis shows times (s since 1970). */
export const formatTime = (seconds: number) => formats.moment(seconds * 1_000)
