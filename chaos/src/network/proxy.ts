/** What a network does to the connections that go through it; of replies unless told otherwise. */
export type NetworkFault =
  | { readonly kind: 'latency'; readonly ms: number; readonly jitter: number }
  /** Connections end in the middle, in order or with a reset. */
  | { readonly kind: 'cut'; readonly afterBytes: number; readonly resets: boolean }
  /** The end of a connection comes late. */
  | { readonly kind: 'slow-close'; readonly ms: number }
  /** Connections stand, and nothing comes: neither way, or only of requests or of replies. */
  | { readonly kind: 'half-open'; readonly of?: 'requests' | 'replies' }
  | { readonly kind: 'bandwidth'; readonly bytesPerSecond: number }
  /** One byte of so many is no longer ASCII: what still looks right is for TLS to find. */
  | { readonly kind: 'corrupt'; readonly oneIn: number }
  /** Nobody takes connections. */
  | { readonly kind: 'down' }

/** A network between a client and a server, whose faults a test sets. */
export interface FaultProxy {
  readonly url: string
  /** Which faults it can bring about. */
  readonly kinds: readonly NetworkFault['kind'][]
  /** Sets this fault and no other, for connections that stand as for those to come; without one, all is well. */
  set(fault?: NetworkFault): Promise<void>
  close(): Promise<void>
}
