import { useRef, useState } from 'preact/hooks'
import { ANY_TIME } from '../../core/prices/price-query.ts'
import { readDayTime, writeDayTime, type DayTime } from '../../core/prices/price-time.ts'
import { html, onText } from '../../html.ts'
import { text } from '../../texts/texts.ts'

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
  /** The parts that are being typed. */
  const [typed, setTyped] = useState<Partial<DayTime>>({})
  const isAny = at === ANY_TIME
  const shown: DayTime = { ...(isAny ? { date: '', time: '' } : readDayTime(at || today)), ...typed }
  function change(part: Partial<DayTime>) {
    setTyped({ ...typed, ...part })
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      setTyped({})
      onChange(writeDayTime({ ...shown, ...part }) || ANY_TIME)
    }, TYPING_DELAY_MS)
  }
  return html`<fieldset class="when">
    <legend>${text('price.validOn')}</legend>
    <input
      type="date"
      aria-label=${text('find.date')}
      max="9999-12-31"
      value=${shown.date}
      onInput=${onText((date) => change({ date }))}
    />
    <input
      type="time"
      aria-label=${text('find.timeOfDay')}
      disabled=${isAny}
      value=${shown.time}
      onInput=${onText((time) => change({ time }))}
    />
    <button type="button" onClick=${() => onChange(isAny ? '' : ANY_TIME)}>
      ${text(isAny ? 'find.today' : 'find.anyDate')}
    </button>
  </fieldset>`
}
