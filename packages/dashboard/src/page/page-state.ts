import { createContext } from 'preact'
import { useContext, useEffect, useState } from 'preact/hooks'
import { createFormats } from './core/format.ts'
import type { SessionInfo } from './api.ts'
import type { Availability, AvailabilityState } from './availability.ts'
import type { LiveStream } from './live-stream.ts'

/** What all screens share. */
export interface PageState {
  readonly session: SessionInfo
  readonly live: LiveStream
  readonly availability: Availability
}

export const PageStateContext = createContext<PageState>(undefined as never)
export const usePageState = (): PageState => useContext(PageStateContext)

/** Which services work, as it changes. @param availability that of the context by default */
export function useAvailability(availability = usePageState().availability): AvailabilityState {
  const [state, setState] = useState(availability.state)
  useEffect(() => {
    const follow = () => setState(availability.state)
    follow()
    return availability.listen(follow)
  }, [availability])
  return state
}

/** In the reader's own manner. */
export const formats = createFormats(navigator.languages)

const listeners = new Set<() => void>()

/** Tells that whoever looks has to sign in, again perhaps. */
export const notifySignInNeeded = (): void => {
  for (const listener of listeners) listener()
}

/** @returns what ends it */
export function onSignInNeeded(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
