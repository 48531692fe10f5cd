/** A value that was published to a topic. */
export interface Event {
  /** Sequence number in the single order of all events. */
  readonly seq: number
  /** Time of publication (ms since 1970). */
  readonly at: number
  readonly topic: string
  readonly value: string
  /** Optional fields; usually absent. */
  readonly more?: EventExtras
}

/** Optional fields of an update of the Mercure protocol, in addition to its topic and value. */
export interface EventExtras {
  /** Alternate topics: the topics of the update after the first one, without duplicates. */
  readonly alternates?: readonly string[]
  /** True if only readers with access to one of its topics may receive it. */
  readonly isPrivate?: true
  /** The publisher's id of the update. Clients can resume from it. */
  readonly id?: string
  /** Type of the event on a stream. */
  readonly type?: string
  /** Reconnection time for clients that lose their stream (ms). */
  readonly retry?: number
}

/** A value for a topic, without a sequence number yet. */
export type TopicPut = readonly [topic: string, value: string, more?: EventExtras]

/** Creates an event from a value, its sequence number and the time of publication (ms since 1970). */
export function createEvent([topic, value, more]: TopicPut, seq: number, at: number): Event {
  const event = { seq, at, topic, value }
  return more ? { ...event, more } : event
}

/** Returns all topics of an event, with `topic` first. */
export const getTopics = ({ topic, more }: Pick<Event, 'topic' | 'more'>): readonly string[] =>
  more?.alternates ? [topic, ...more.alternates] : [topic]

/** Entry that ends all streams. */
export interface ClosingEntry {
  readonly seq: number
  readonly closing: true
}

/** Entry that every thread receives, in order. */
export type StreamEntry = Event | ClosingEntry

export const isClosing = (entry: StreamEntry): entry is ClosingEntry => 'closing' in entry

/** Topic of requests without a topic. */
export const DEFAULT_TOPIC = 'default'
