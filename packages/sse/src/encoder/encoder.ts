import type { Framing } from '@influencer-stats/runtime/framing'
import type { Event } from '../core/event.ts'

/** Fields of an event that an encoder uses. */
export type EventContent = Pick<Event, 'topic' | 'value' | 'more'>

/** Encodes values for streams. The results of several calls can be concatenated. */
export interface Encoder {
  /** Unique among all encoders. */
  readonly name: string
  readonly contentType: string
  /** Framing of the encoded texts in the reply. Streams with the same encoder share framed bytes. */
  readonly framing: Framing
  /**
   * True if `encodeGap` can report lost events within a stream. Other formats report them only in the head of the
   * reply, so a later loss ends the stream.
   */
  readonly hasGapEvents: boolean
  /** Encodes the start of a stream. A client that loses the stream reconnects after `retry` ms. */
  encodeOpening(retry: number): string
  /**
   * Encodes the id from which the client can resume, without an event.
   * @param isEventSource true if the client keeps only the id of a whole block, and ignores a block without data
   */
  encodePosition(id: string, isEventSource?: boolean): string
  /** Encodes an event. */
  encodeValue(id: string, event: EventContent): string
  /** Encodes a report that events are lost. @param id id from which the client can resume */
  encodeGap(id: string): string
  /** Encodes the end of a stream whose client must not reconnect. @param id id of the closing (`formatClosingId`) */
  encodeClosed(id: string): string
  /** Encodes the end of a stream whose client reconnects after `retry` ms. */
  encodeGoodbye(retry: number): string
  /** Text that clients ignore. A failed write of it shows that a client is disconnected. */
  readonly heartbeat: string
}
