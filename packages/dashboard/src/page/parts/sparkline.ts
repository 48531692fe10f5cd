import { useEffect, useRef, useState } from 'preact/hooks'
import { stats } from '../api.ts'
import { pathThrough, sampled } from '../core/series.ts'
import { html } from '../html.ts'

const WIDTH = 96
const HEIGHT = 26
const DAYS = 7
const STEPS = 28
const DAY = 86_400_000
/** Histories are many, and other requests are not to wait for them. */
const MOST_AT_ONCE = 2
const KEPT_FOR = 300_000

const kept = new Map<string, { readonly until: number; readonly values: Promise<number[]> }>()
const waiting: (() => void)[] = []
let running = 0

async function inTurn<T>(run: () => Promise<T>): Promise<T> {
  if (running >= MOST_AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve))
  running++
  try {
    return await run()
  } finally {
    running--
    waiting.shift()?.()
  }
}

async function read(id: string): Promise<number[]> {
  const to = Date.now()
  const from = to - DAYS * DAY
  const step = (DAYS * DAY) / STEPS / 1_000
  const points = (await inTurn(() => stats.history(id, { from: new Date(from), step }))) ?? []
  const known = points.map(({ at, impressions }) => ({ at: Date.parse(at), value: impressions }))
  // A young campaign's line is as long as what is known of it.
  return sampled(known, Math.max(from, (known[0]?.at ?? from) - 1), to, STEPS)
}

function valuesOf(id: string): Promise<number[]> {
  const found = kept.get(id)
  if (found && found.until > Date.now()) return found.values
  const values = read(id).catch(() => [])
  kept.set(id, { until: Date.now() + KEPT_FOR, values })
  return values
}

/** How a campaign's views came in a week; read once it is in sight. */
export function Sparkline({ id }: { id: string }) {
  const box = useRef<SVGSVGElement>(null)
  const [values, setValues] = useState<number[]>([])
  useEffect(() => {
    let isGone = false
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return
      observer.disconnect()
      void valuesOf(id).then((found) => isGone || setValues(found))
    })
    observer.observe(box.current!)
    return () => {
      isGone = true
      observer.disconnect()
    }
  }, [id])
  const path = pathThrough(values, WIDTH, HEIGHT - 4)
  return html`<svg
    ref=${box}
    class="sparkline"
    viewBox=${`0 -2 ${WIDTH} ${HEIGHT}`}
    width=${WIDTH}
    height=${HEIGHT}
    aria-hidden="true"
  >
    ${path && html`<path class="area" d=${`${path}L${WIDTH} ${HEIGHT}L0 ${HEIGHT}Z`} /><path class="line" d=${path} />`}
  </svg>`
}
