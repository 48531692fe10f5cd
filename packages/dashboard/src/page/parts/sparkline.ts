import { useEffect, useRef, useState } from 'preact/hooks'
import { stats } from '../api.ts'
import { drawPath, samplePoints } from '../core/series.ts'
import { html } from '../html.ts'

const WIDTH_PX = 96
const HEIGHT_PX = 26
const DAYS = 7
const STEP_COUNT = 28
const DAY_MS = 86_400_000
/** A list has many histories, and other requests must not wait for them. */
const MAX_CONCURRENT_READS = 2
/** Time that a line is visible before it is read (ms): a reader scrolls past most of them. */
const MIN_VISIBLE_MS = 400
const CACHE_TTL_MS = 300_000

const cache = new Map<string, { readonly until: number; readonly values: Promise<number[]> }>()
const queue: (() => void)[] = []
let running = 0

async function runLimited<T>(run: () => Promise<T>): Promise<T> {
  if (running >= MAX_CONCURRENT_READS) await new Promise<void>((resolve) => queue.push(resolve))
  running++
  try {
    return await run()
  } finally {
    running--
    queue.shift()?.()
  }
}

async function readValues(id: string): Promise<number[]> {
  const to = Date.now()
  const from = to - DAYS * DAY_MS
  const step = (DAYS * DAY_MS) / STEP_COUNT / 1_000
  const points = (await runLimited(() => stats.getHistory(id, { from: new Date(from), step }))) ?? []
  const known = points.map(({ at, impressions }) => ({ at: Date.parse(at), value: impressions }))
  // The line of a young campaign begins at its first known point.
  return samplePoints(known, Math.max(from, (known[0]?.at ?? from) - 1), to, STEP_COUNT)
}

function getValues(id: string): Promise<number[]> {
  const found = cache.get(id)
  if (found && found.until > Date.now()) return found.values
  const values = readValues(id).catch(() => [])
  cache.set(id, { until: Date.now() + CACHE_TTL_MS, values })
  return values
}

/** The views of a campaign in a week. It reads them when it becomes visible. */
export function Sparkline({ id }: { id: string }) {
  const box = useRef<SVGSVGElement>(null)
  const [values, setValues] = useState<number[]>([])
  useEffect(() => {
    let isUnmounted = false
    let timer: ReturnType<typeof setTimeout> | undefined
    const observer = new IntersectionObserver((entries) => {
      clearTimeout(timer)
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return
      timer = setTimeout(() => {
        observer.disconnect()
        void getValues(id).then((found) => isUnmounted || setValues(found))
      }, MIN_VISIBLE_MS)
    })
    observer.observe(box.current!)
    return () => {
      isUnmounted = true
      clearTimeout(timer)
      observer.disconnect()
    }
  }, [id])
  const path = drawPath(values, WIDTH_PX, HEIGHT_PX - 4)
  return html`<svg
    ref=${box}
    class="sparkline"
    viewBox=${`0 -2 ${WIDTH_PX} ${HEIGHT_PX}`}
    width=${WIDTH_PX}
    height=${HEIGHT_PX}
    aria-hidden="true"
  >
    ${path && html`<path class="area" d=${`${path}L${WIDTH_PX} ${HEIGHT_PX}L0 ${HEIGHT_PX}Z`} /><path class="line" d=${path} />`}
  </svg>`
}
