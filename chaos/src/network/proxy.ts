/** Fault of a network for its connections; affects replies by default. */
export type NetworkFault =
  | { readonly kind: 'latency'; readonly ms: number; readonly jitter: number }
  /** Connections end in the middle, in order or with a reset. */
  | { readonly kind: 'cut'; readonly afterBytes: number; readonly resets: boolean }
  /** The end of a connection is delayed. */
  | { readonly kind: 'slow-close'; readonly ms: number }
  /** Connections stay open without data: in both directions, or only for requests or for replies. */
  | { readonly kind: 'half-open'; readonly of?: 'requests' | 'replies' }
  | { readonly kind: 'bandwidth'; readonly bytesPerSecond: number }
  /** One byte in `oneIn` becomes non-ASCII. Corruption that still looks valid is for TLS to detect. */
  | { readonly kind: 'corrupt'; readonly oneIn: number }
  /** Connections are refused. */
  | { readonly kind: 'down' }

/** A network between a client and a server, with faults that a test sets. */
export interface FaultProxy {
  readonly url: string
  /** Faults that it supports. */
  readonly kinds: readonly NetworkFault['kind'][]
  /** Sets the only fault, for present and future connections; without an argument, removes it. */
  set(fault?: NetworkFault): Promise<void>
  close(): Promise<void>
}
