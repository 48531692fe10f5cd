import { useRef } from 'preact/hooks'
import { ANY_TIME } from '../../core/prices/price-query.ts'
import { readDayTime, writeDayTime, type DayTime } from '../../core/prices/price-time.ts'
import { html, onText } from '../../html.ts'

/** Delay from the last key to the change (ms): a year that is being typed begins as the year 2. */
const TYPING_DELAY_MS = 600

interface TimeFieldProps {
  /** As in a query: '' for today. */
  readonly at: string
  readonly today: string
  onChange(at: string): void
}

/** When the price must be valid: a day, a time of a day, or any time. */
export function TimeField({ at, today, onChange }: TimeFieldProps) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const isAny = at === ANY_TIME
  const shown: DayTime = isAny ? { date: '', time: '' } : readDayTime(at || today)
  /** The fields that are being typed. */
  const typed = useRef<Partial<DayTime>>({})
  const change = (part: Partial<DayTime>) => {
    typed.current = { ...typed.current, ...part }
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      const next = writeDayTime({ ...shown, ...typed.current })
      typed.current = {}
      onChange(next || ANY_TIME)
    }, TYPING_DELAY_MS)
  }
  return html`<fieldset class="when">
    <legend>Valid on</legend>
    <input
      type="date"
      aria-label="Date"
      max="9999-12-31"
      value=${shown.date}
      onInput=${onText((date) => change({ date }))}
    />
    <input
      type="time"
      aria-label="Time of day"
      disabled=${isAny}
      value=${shown.time}
      onInput=${onText((time) => change({ time }))}
    />
    <button type="button" onClick=${() => onChange(isAny ? '' : ANY_TIME)}>${isAny ? 'Today' : 'Any date'}</button>
  </fieldset>`
}
