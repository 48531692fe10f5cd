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

/** The data that a thread receives when it starts. */
export interface DashboardSharedState {
  /** Signs sessions and links. */
  readonly key: string
  readonly links: readonly ShareLink[]
  /** Health of the data of the main thread (`dataHealth`). */
  readonly health: SharedArrayBuffer
}

/** Calls from serving threads to the main thread. */
export type DashboardMainMessage = {
  addLink(campaign: CampaignVersion, days: number): ShareLink
  /** @returns true if the link existed */
  revokeLink(id: string): boolean
}

/** Messages from the main thread to serving threads. */
export type DashboardThreadMessage = {
  linkAdded(link: ShareLink): void
  linksRemoved(ids: readonly string[]): void
}
