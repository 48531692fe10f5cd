/** A value that was put to a topic. */
export interface Event {
  /** Its place in the one order of all events. */
  readonly seq: number
  /** When it was put (ms since 1970). */
  readonly at: number
  readonly topic: string
  readonly value: string
  /** What most have none of. */
  readonly more?: EventExtras
}

/** What an update may say besides its topic and its value. */
export interface EventExtras {
  /** Other topics that it is put to, too; without doubles. */
  readonly alternates?: readonly string[]
  /** Only for who may read one of its topics. */
  readonly isPrivate?: true
  /** Of the event on a stream. */
  readonly type?: string
  /** Clients that lose their stream are to come back after (ms). */
  readonly retry?: number
}

/** A value for a topic that has no place in the order yet. */
export type TopicPut = readonly [topic: string, value: string, more?: EventExtras]

/** A value in its place. */
export function createEvent([topic, value, more]: TopicPut, seq: number, at: number): Event {
  const event = { seq, at, topic, value }
  return more ? { ...event, more } : event
}

/** All topics that an event was put to, the one it is named by first. */
export const getTopics = ({ topic, more }: Pick<Event, 'topic' | 'more'>): readonly string[] =>
  more?.alternates ? [topic, ...more.alternates] : [topic]

/** All streams are to be ended. */
export interface ClosingEntry {
  readonly seq: number
  readonly closing: true
}

/** What is brought to every thread, in order. */
export type StreamEntry = Event | ClosingEntry

export const isClosing = (entry: StreamEntry): entry is ClosingEntry => 'closing' in entry

/** The topic of whoever names none. */
export const DEFAULT_TOPIC = 'default'
