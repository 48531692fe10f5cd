/** Fault of a network. It affects replies only, unless stated otherwise. */
export type NetworkFault =
  | { readonly kind: 'latency'; readonly ms: number; readonly jitter: number }
  /** A connection ends after some bytes of replies, normally or with a reset. */
  | { readonly kind: 'cut'; readonly afterBytes: number; readonly resets: boolean }
  /** The end of a connection is forwarded with a delay, by `createNodeProxy` in both directions. */
  | { readonly kind: 'slow-close'; readonly ms: number }
  /** Connections stay open, but bytes are lost: in both directions, or in one of them. */
  | { readonly kind: 'half-open'; readonly direction?: 'requests' | 'replies' }
  | { readonly kind: 'bandwidth'; readonly bytesPerSecond: number }
  /**
   * On average, one byte in `oneIn` becomes non-ASCII, in the direction that the proxy corrupts. Only TLS can detect
   * corruption that still looks valid.
   */
  | { readonly kind: 'corrupt'; readonly oneIn: number }
  /** Connections are refused, and open connections are reset. */
  | { readonly kind: 'down' }

/** A proxy between a client and a server that imitates a network with faults. */
export interface FaultProxy {
  readonly url: string
  /** Kinds of faults that this proxy supports. */
  readonly kinds: readonly NetworkFault['kind'][]
  /** Replaces the current fault, for open and new connections. Without an argument there is no fault. */
  set(fault?: NetworkFault): Promise<void>
  close(): Promise<void>
}
