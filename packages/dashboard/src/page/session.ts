import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { createFormats } from './core/format.ts'
import type { Session } from './api.ts'
import type { Availability } from './availability.ts'
import type { Live } from './live.ts'

/** What all screens share. */
export interface Shared {
  readonly session: Session
  readonly live: Live
  readonly availability: Availability
}

export const SharedContext = createContext<Shared>(undefined as never)
export const useShared = (): Shared => useContext(SharedContext)

/** In the reader's own manner. */
export const formats = createFormats(navigator.languages)

const listeners = new Set<() => void>()

/** Tells that whoever looks has to sign in, again perhaps. */
export const signInNeeded = (): void => {
  for (const listener of listeners) listener()
}

/** @returns what ends it */
export function onSignInNeeded(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
