import type { Event } from '../core/event.ts'

/** What an encoder looks at of an event. */
export type EventContent = Pick<Event, 'topic' | 'value' | 'more'>

/** Puts values on a stream. Everything it gives is a whole piece, so pieces can be joined in any number. */
export interface Encoder {
  /** Different from every other's. */
  readonly name: string
  readonly contentType: string
  /** Whether clients are told of a gap by the stream; others only where it begins, so it must end for one. */
  readonly hasGapEvents: boolean
  /** What a stream begins with; if it is lost, the client is to come back after `retry` ms. */
  encodeOpening(retry: number): string
  /** Tells the client how far it is, without an event. */
  encodePosition(id: string): string
  encodeValue(id: string, event: EventContent): string
  /** Some of what the client has missed is no longer kept. */
  encodeGap(id: string): string
  /** The stream ends, and the client is to stay away. */
  encodeClosed(id: string): string
  /** The stream ends, and the client is to come back after `retry` ms. */
  encodeGoodbye(retry: number): string
  /** Says nothing, but shows whether the client is still there. */
  readonly heartbeat: string
}
