/** What a thread is started with. */
export interface Shared {
  /** Whether the database takes writes. */
  readonly health: SharedArrayBuffer
  /** What numbers writes. */
  readonly revisions: SharedArrayBuffer
  /** The locks of keys and this thread's number among their owners, where several threads may write. */
  readonly stripes?: { readonly memory: SharedArrayBuffer; readonly owner: number }
}

/** What threads ask of main. */
export type ToMain = {
  /** Reserve more revisions. */
  reserve(): void
}
