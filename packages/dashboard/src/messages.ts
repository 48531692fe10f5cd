/** A campaign shown to whoever has the link. Times in ms since 1970. */
export interface Link {
  readonly id: string
  readonly campaign: string
  readonly created: number
  readonly expires: number
}

/** What a thread is started with. */
export interface Shared {
  /** Signs sessions and links. */
  readonly key: string
  readonly links: readonly Link[]
  /** The health of what main keeps (`dataHealth`). */
  readonly health: SharedArrayBuffer
}

/** What threads ask of main. */
export type ToMain = {
  addLink(campaign: string, days: number): Link
  /** @returns whether there was one */
  revokeLink(id: string): boolean
}

/** What main tells threads. */
export type ToThread = {
  linkAdded(link: Link): void
  linksGone(ids: readonly string[]): void
}
