import type { Collection } from '../../core/campaign.ts'
import { getActiveSources, getPlaylistId } from '../../core/follow/upload-rules.ts'

/** Playlists whose campaigns have changed. */
export interface PlaylistChange {
  /** Playlists that no campaign followed before. */
  readonly added: readonly string[]
  /** Playlists that no campaign follows any more. */
  readonly removed: readonly string[]
  /** Other playlists whose rules may have changed. */
  readonly changed: readonly string[]
}

const NO_CHANGE: PlaylistChange = { added: [], removed: [], changed: [] }

/** The playlists that campaigns follow at present, and their campaigns. */
export class FollowedPlaylists {
  /** Playlists and rules of each campaign that follows any. */
  readonly #campaigns = new Map<string, { readonly rules: string; readonly playlists: ReadonlySet<string> }>()
  readonly #ids = new Map<string, Set<string>>()

  /** Returns the ids of the campaigns that follow a playlist. */
  getCampaignIds = (playlist: string): readonly string[] => [...(this.#ids.get(playlist) ?? [])].toSorted()

  /** Returns the ids of all campaigns that follow a playlist. */
  getAllCampaignIds = (): readonly string[] => [...this.#campaigns.keys()]

  /**
   * Adds, changes or removes a campaign.
   * @param now ms since 1970: outside of its dates a campaign follows nothing
   */
  set(id: string, campaign: Collection | undefined, now: number): PlaylistChange {
    const before = this.#campaigns.get(id)
    const sources = campaign ? getActiveSources(campaign, now) : []
    if (!before && sources.length === 0) return NO_CHANGE
    const { from, to } = campaign ?? {}
    const rules = JSON.stringify([from, to, sources.map((source) => [source.id, source.contains])])
    if (before?.rules === rules) return NO_CHANGE
    const playlists = new Set(sources.map(getPlaylistId))
    if (playlists.size > 0) this.#campaigns.set(id, { rules, playlists })
    else this.#campaigns.delete(id)
    const removed = [...(before?.playlists ?? [])].filter(
      (playlist) => !playlists.has(playlist) && this.#drop(playlist, id),
    )
    const known = [...playlists].filter((playlist) => this.#ids.has(playlist))
    for (const playlist of playlists) this.#ids.set(playlist, (this.#ids.get(playlist) ?? new Set()).add(id))
    return { added: [...playlists].filter((playlist) => !known.includes(playlist)), removed, changed: known }
  }

  /** Removes a campaign from a playlist; true if the playlist has no other. */
  #drop(playlist: string, id: string): boolean {
    const ids = this.#ids.get(playlist)
    ids?.delete(id)
    return ids?.size === 0 && this.#ids.delete(playlist)
  }
}
