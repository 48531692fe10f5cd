/** Puts values on a stream. Everything it gives is a whole piece, so pieces can be joined in any number. */
export interface Encoder {
  readonly contentType: string
  /** What a stream begins with; if it is lost, the client is to come back after `retry` ms. */
  opening(retry: number): string
  /** Tells the client how far it is, without an event. */
  position(id: string): string
  value(id: string, value: string): string
  /** Some of what the client has missed is no longer kept. */
  gap(id: string): string
  /** The stream ends, and the client is to stay away. */
  closed(id: string): string
  /** The stream ends, and the client is to come back after `retry` ms. */
  farewell(retry: number): string
  /** Says nothing, but shows whether the client is still there. */
  readonly heartbeat: string
}
