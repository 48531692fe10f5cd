import { createContext } from 'preact'
import { useContext, useEffect, useState } from 'preact/hooks'
import { createFormats } from './core/format.ts'
import type { SessionInfo } from './api.ts'
import type { Availability, AvailabilityState } from './availability.ts'
import type { LiveStream } from './live-stream.ts'

/** The state that all screens share. */
export interface PageState {
  readonly session: SessionInfo
  readonly live: LiveStream
  readonly availability: Availability
}

export const PageStateContext = createContext<PageState>(undefined as never)
export const usePageState = (): PageState => useContext(PageStateContext)

/** The current availability of the services. @param availability that of the context by default */
export function useAvailability(availability = usePageState().availability): AvailabilityState {
  const [state, setState] = useState(availability.state)
  useEffect(() => {
    const follow = () => setState(availability.state)
    follow()
    return availability.listen(follow)
  }, [availability])
  return state
}

/** Formats in the reader's locale. */
export const formats = createFormats(navigator.languages)

const listeners = new Set<() => void>()

/** Reports that the user must sign in, possibly again. */
export const notifySignInNeeded = (): void => {
  for (const listener of listeners) listener()
}

/** @returns a function that removes the listener */
export function onSignInNeeded(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
