import uPlot, { type AlignedData, type Options } from 'uplot'
import { useEffect, useRef, useState } from 'preact/hooks'
import { html } from '../html.ts'
import { formats } from '../page-state.ts'
import { text } from '../texts/texts.ts'

const DARK_SCHEME = matchMedia('(prefers-color-scheme: dark)')
const PRINT_EVENTS = ['beforeprint', 'afterprint'] as const
const HEIGHT_PX = 280
/** Lines differ in their dashes, in addition to their colours. */
const LINE_DASHES = [[], [8, 4], [2, 3], [12, 4, 2, 4], [4, 4], [16, 4]]

interface ChartProps {
  /** Times or durations (s), which `x` formats, then one array of values per line. */
  readonly data: AlignedData
  /** Names of the lines. */
  readonly names: readonly string[]
  /** Formats a value of the x axis. */
  x(value: number): string
  y(value: number): string
  /** Formats values for the y axis, in short form. */
  yShort(values: readonly number[]): string[]
  /** True if the x axis shows times, false if it shows durations. */
  readonly isTime: boolean
  /** True if the y axis begins at 0. */
  readonly isFromZero: boolean
  /** Times with a vertical line, in the unit of the x axis. */
  readonly marks?: readonly { readonly at: number; readonly text: string }[]
  /** Description of the chart for screen readers. */
  readonly summary: string
}

const HOUR_S = 3_600
/** Steps of an axis of durations: hours, days and weeks (s). */
const DURATION_STEPS = [1, 2, 3, 6, 12, 24, 48, 72, 168, 336].map((hours) => hours * HOUR_S)

/** The present value of a colour of the style. A canvas cannot read `light-dark()`. */
function readColor(element: HTMLElement, name: string): string {
  element.style.color = `var(${name})`
  const { color } = getComputedStyle(element)
  element.style.color = ''
  return color
}

function createOptions(
  { names, isTime, isFromZero, x, yShort, data }: ChartProps,
  element: HTMLElement,
  onMove: (index: number | undefined) => void,
  marks: () => ChartProps['marks'],
): Options {
  const color = (name: string) => readColor(element, name)
  const markColor = color('--warn')
  const axis = {
    stroke: color('--quiet'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
    font: '12px system-ui',
  }
  const isOne = names.length === 1
  return {
    width: element.clientWidth,
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
        ...(!isTime && { incrs: DURATION_STEPS }),
        values: (_chart, splits, _axis, _space, step) => splits.map(isTime ? (at) => formatAxisTime(at, step) : x),
      },
      { ...axis, size: (_chart, texts) => computeWidth(texts ?? []), values: (_chart, splits) => yShort(splits) },
    ],
    series: [
      {},
      ...names.map((label, i) => ({
        label,
        stroke: color(`--series-${i + 1}`),
        width: 2,
        dash: LINE_DASHES[i]!,
        spanGaps: true,
        points: { show: data[0].length < 3 },
        ...(isOne && { fill: color('--area') }),
      })),
    ],
    hooks: {
      setCursor: [({ cursor }) => onMove(cursor.idx ?? undefined)],
      draw: [(chart) => drawMarks(chart, marks() ?? [], markColor)],
    },
  }
}

/** A vertical line for each mark. */
function drawMarks(
  { ctx, bbox, scales, valToPos }: uPlot,
  marks: NonNullable<ChartProps['marks']>,
  color: string,
): void {
  const { min, max } = scales.x ?? {}
  ctx.save()
  ctx.strokeStyle = color
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
function describeValue({ data, y }: ChartProps, line: number, index: number, unknown: string): string {
  for (let i = index; i >= 0; i--) {
    const value = data[line + 1]![i]
    if (value !== null && value !== undefined) return y(value)
  }
  return unknown
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
        createOptions(newest.current, element, setIndex, () => newest.current.marks),
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
    // On paper all colours are light. The page has them from `beforeprint` to `afterprint`.
    for (const event of PRINT_EVENTS) addEventListener(event, draw)
    return () => {
      observer.disconnect()
      DARK_SCHEME.removeEventListener('change', draw)
      for (const event of PRINT_EVENTS) removeEventListener(event, draw)
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
      ${names.map(
        (name, i) =>
          html`<span class="value" key=${i}>
            ${names.length > 1 && html`<${Swatch} line=${i} /><bdi>${name}</bdi>`}
            <b>${describeValue(props, i, shown, '–')}</b>
          </span>`,
      )}
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

function describePoint(props: ChartProps, index: number): string {
  const values = props.names.map((name, i) => `${name} ${describeValue(props, i, index, text('chart.unknown'))}`)
  return `${props.x(props.data[0][index]!)}: ${values.join(', ')}`
}

/** The colour of a line, as in the chart. */
export const Swatch = ({ line }: { line: number }) =>
  html`<i class="swatch" style=${{ background: `var(--series-${line + 1})` }} aria-hidden="true"></i>`

/** Formats a value of the x axis if the axis shows times (s since 1970). */
export const formatTime = (seconds: number) => formats.moment(seconds * 1_000)

/** A chart of counts over time. Times are in seconds since 1970. */
export const TimeChart = (props: Omit<ChartProps, 'x' | 'y' | 'yShort' | 'isTime'>) =>
  html`<${Chart} x=${formatTime} y=${formats.count} yShort=${formats.short} isTime=${true} ...${props} />`
