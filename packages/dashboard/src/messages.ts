/** A campaign from its creation to its deletion: a later one with the same id is another campaign. */
export interface CampaignVersion {
  readonly campaign: string
  /** Unique for each creation (`created` of stats). Empty for a campaign from before stats recorded it. */
  readonly birth: string
  /** Its name when the link was made. */
  readonly name?: string | undefined
}

/** A link that shows one campaign. Times in ms since 1970. */
export interface Link extends Omit<CampaignVersion, 'birth'> {
  readonly id: string
  /** Absent in links of versions that did not record it. */
  readonly birth?: string
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
  addLink(campaign: CampaignVersion, days: number): Link
  /** @returns whether there was one */
  revokeLink(id: string): boolean
}

/** What main tells threads. */
export type ToThread = {
  linkAdded(link: Link): void
  linksGone(ids: readonly string[]): void
}
