/** A value that was put to a topic. */
export interface Event {
  /** Its place in the one order of all events. */
  readonly seq: number
  /** When it was put (ms since 1970). */
  readonly at: number
  readonly topic: string
  readonly value: string
}

/** All streams are to be ended. */
export interface Closing {
  readonly seq: number
  readonly closing: true
}

/** What is brought to every thread, in order. */
export type Entry = Event | Closing

export const isClosing = (entry: Entry): entry is Closing => 'closing' in entry

/** The topic of whoever names none. */
export const DEFAULT_TOPIC = 'default'
