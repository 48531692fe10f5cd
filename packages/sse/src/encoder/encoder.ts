import type { Event } from '../core/event.ts'

/** Fields of an event that an encoder uses. */
export type EventContent = Pick<Event, 'topic' | 'value' | 'more'>

/** Encodes values for a stream. Each result is a complete piece, so any number of pieces can be joined. */
export interface Encoder {
  /** Unique among all encoders. */
  readonly name: string
  readonly contentType: string
  /**
   * True if the stream itself can report a gap. Other formats report gaps only at the start of a stream, so a later gap
   * ends the stream.
   */
  readonly hasGapEvents: boolean
  /** Starts a stream. A client that loses it reconnects after `retry` ms. */
  encodeOpening(retry: number): string
  /** Reports the position to the client, without an event. */
  encodePosition(id: string): string
  encodeValue(id: string, event: EventContent): string
  /** Reports that some missed events are no longer stored. */
  encodeGap(id: string): string
  /** Ends the stream of a client that must not reconnect. */
  encodeClosed(id: string): string
  /** Ends the stream of a client that reconnects after `retry` ms. */
  encodeGoodbye(retry: number): string
  /** Text without content, which shows if the client is still connected. */
  readonly heartbeat: string
}
