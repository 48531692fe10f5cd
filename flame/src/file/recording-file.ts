import { createFlameFile, type RecordingFile } from './flame-file.ts'
import type { Category } from '../graph/frames.ts'
import type { HotFunction } from '../graph/hot-functions.ts'
import { getWeight, type Profile, type ProfileCall } from '../graph/profile.ts'

/** Minimum share of a call. Less is under a pixel, and one sample of 10,000 is not significant. */
const MIN_SHARE = 0.0002
/** Functions of the table below a graph. */
const MAX_TOP_ROWS = 15

/** Returns the functions with the largest own shares. */
export const listTopFunctions = (functions: readonly HotFunction[]): HotFunction[] =>
  functions.toSorted((a, b) => b.self - a.self).slice(0, MAX_TOP_ROWS)

/** Removes invisibly small callees. Their weight counts for their caller. */
function cutSmallCalls({ frame, self, callees }: ProfileCall, least: number): ProfileCall {
  const isSmall = (callee: ProfileCall) => getWeight(callee) < least
  return {
    frame,
    self: callees.filter(isSmall).reduce((sum, callee) => sum + getWeight(callee), self),
    callees: callees.filter((callee) => !isSmall(callee)).map((callee) => cutSmallCalls(callee, least)),
  }
}

function sumCategories({ root, total }: Profile): Record<Category, number> {
  const shares = { app: 0, dependency: 0, node: 0, native: 0 }
  function add({ frame, self, callees }: ProfileCall): void {
    shares[frame.category] += (100 * self) / Math.max(1, total)
    callees.forEach(add)
  }
  add(root)
  return shares
}

/** Returns the part of a profile that its graph shows: without invisibly small calls. */
export const toVisibleProfile = (profile: Profile): Profile => {
  return { ...profile, root: cutSmallCalls(profile.root, MIN_SHARE * profile.total) }
}

/** Converts the visible profile of a thread to a file of the viewer. */
export function createRecordingFile(
  profile: Profile,
  { functions, parts, ...texts }: Pick<RecordingFile, 'name' | 'description' | 'functions' | 'parts'>,
): RecordingFile {
  const { root, unit, total } = profile
  const side = { name: texts.name, unit, total: Math.round(total), getSelf: ({ self }: ProfileCall) => self }
  const file = createFlameFile(texts, root, [side])
  return { ...file, categories: sumCategories(profile), functions: listTopFunctions(functions), parts }
}
