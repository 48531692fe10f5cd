import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { createFormats } from './core/format.ts'
import type { SessionInfo } from './api.ts'
import type { Availability, AvailabilityState } from './availability.ts'
import { useListened } from './listeners.ts'
import type { LiveStream } from './live-stream.ts'
import { choice } from './texts/language.ts'

/** The state that all screens share. */
export interface PageState {
  readonly session: SessionInfo
  readonly live: LiveStream
  readonly availability: Availability
}

export const PageStateContext = createContext<PageState>(undefined as never)
export const usePageState = (): PageState => useContext(PageStateContext)

/** The current availability of the services. @param availability that of the context by default */
export const useAvailability = (availability = usePageState().availability): AvailabilityState =>
  useListened(availability.changes, () => availability.state)

/** Formats in the reader's locale. */
export const formats = createFormats(choice.locales)
