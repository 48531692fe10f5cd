/** A campaign from its creation to its deletion: a later one with the same id is another campaign. */
export interface CampaignVersion {
  readonly campaign: string
  /** Unique for each creation (`created` of stats). Empty for a campaign from before stats recorded it. */
  readonly birth: string
  /** Its name when the link was made. */
  readonly name?: string | undefined
}

/** A link that shows one campaign. Times in ms since 1970. */
export interface ShareLink extends Omit<CampaignVersion, 'birth'> {
  readonly id: string
  /** Absent in links of versions that did not record it. */
  readonly birth?: string
  readonly created: number
  readonly expires: number
}

/** What a thread is started with. */
export interface DashboardSharedState {
  /** Signs sessions and links. */
  readonly key: string
  readonly links: readonly ShareLink[]
  /** The health of what main keeps (`dataHealth`). */
  readonly health: SharedArrayBuffer
}

/** What threads ask of main. */
export type DashboardMainMessage = {
  addLink(campaign: CampaignVersion, days: number): ShareLink
  /** @returns whether there was one */
  revokeLink(id: string): boolean
}

/** What main tells threads. */
export type DashboardThreadMessage = {
  linkAdded(link: ShareLink): void
  linksRemoved(ids: readonly string[]): void
}
