import type { LookedUpVideos } from '../../core/paste/preview.ts'
import type { StateReader } from '../../state/stats-state.ts'

/** Finds out which ids are videos: first among the stored details, then with `lookUpVideos`. */
export async function findKnownVideos(
  ids: readonly string[],
  state: Pick<StateReader, 'getVideos'>,
  lookUpVideos: (ids: readonly string[]) => Promise<LookedUpVideos>,
): Promise<LookedUpVideos> {
  if (ids.length === 0) return { found: [], failed: [] }
  const known = (await state.getVideos(ids)).filter((details) => details !== undefined)
  const knownIds = new Set(known.map(({ id }) => id))
  const { found, failed } = await lookUpVideos(ids.filter((id) => !knownIds.has(id)))
  return { found: [...known, ...found], failed }
}
