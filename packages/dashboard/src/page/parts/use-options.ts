import { useEffect, useRef, useState } from 'preact/hooks'
import { describeError } from '../api.ts'

/** A choice in a list. */
export interface ListOption<T> {
  readonly key: string
  readonly text: string
  /** A word for its kind, if the list has several kinds. */
  readonly note?: string
  /** Number of prices that remain after its choice. */
  readonly count?: number
  readonly value: T
}

/** A part of a list. */
export interface OptionPage<T> {
  readonly options: readonly ListOption<T>[]
  /** Cursor of the next part. Absent in the last one. */
  readonly next?: string | undefined
}

export type ReadOptions<T> = (q: string, after?: string) => Promise<OptionPage<T>>

/** Delay from the last key to the read (ms). */
const TYPING_DELAY_MS = 150

interface OptionsState<T> extends OptionPage<T> {
  /** The text that these options contain. Undefined before the first read. */
  readonly q?: string
  readonly fault?: string
}

/**
 * Reads a list of options part by part. While the options for another text are read, the old ones remain.
 * @param q text that the options contain; undefined while the list is closed
 * @param version its change means that the options may have changed
 */
export function useOptions<T>(read: ReadOptions<T>, q: string | undefined, version: string) {
  const [state, setState] = useState<OptionsState<T>>({ options: [] })
  const isReading = useRef(false)
  /** Number of the newest read: replies to older reads are ignored. */
  const newest = useRef(0)

  async function readPart(text: string, before: readonly ListOption<T>[], after?: string) {
    const number = ++newest.current
    isReading.current = true
    const change = await read(text, after).then(
      (page): OptionsState<T> => ({ q: text, options: [...before, ...page.options], next: page.next }),
      (error: unknown): OptionsState<T> => ({ q: text, options: before, fault: describeError(error) }),
    )
    if (number !== newest.current) return
    isReading.current = false
    setState(change)
  }

  useEffect(() => {
    if (q === undefined) {
      // The next opening shows no options of other conditions.
      newest.current++
      setState({ options: [] })
      return undefined
    }
    const timer = setTimeout(() => void readPart(q, []), q === '' ? 0 : TYPING_DELAY_MS)
    return () => clearTimeout(timer)
  }, [q, version])

  return {
    ...state,
    /** True if the options are those of the current text. */
    isCurrent: state.q !== undefined && state.q === q,
    readMore(): void {
      if (state.next !== undefined && !isReading.current) void readPart(state.q!, state.options, state.next)
    },
  }
}
