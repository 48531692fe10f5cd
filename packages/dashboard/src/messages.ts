import type { ViewContent } from './page/core/home-query.ts'

/** A campaign from its creation to its deletion: a later one with the same id is another campaign. */
export interface CampaignVersion {
  readonly campaign: string
  /** Unique for each creation (`created` of stats). Empty if an older version of stats created the campaign. */
  readonly birth: string
  /** Name of the campaign at the creation of the link. */
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

/** A saved view of the list of campaigns. */
export interface SavedView extends ViewContent {
  readonly id: string
}

/** The data that a thread receives when it starts. */
export interface DashboardSharedState {
  /** Signs sessions and links. */
  readonly key: string
  readonly links: readonly ShareLink[]
  /** Shared memory with the health of the data: see `createDataHealth`. */
  readonly health: SharedArrayBuffer
}

/** Calls from serving threads to the main thread. */
export type DashboardMainMessage = {
  addLink(campaign: CampaignVersion, days: number): ShareLink
  /** @returns true if the link existed */
  revokeLink(id: string): boolean
  listViews(): readonly SavedView[]
  addView(content: ViewContent): SavedView
  /** @returns true if the view existed */
  removeView(id: string): boolean
}

/** Messages from the main thread to serving threads. */
export type DashboardThreadMessage = {
  linkAdded(link: ShareLink): void
  linksRemoved(ids: readonly string[]): void
}
