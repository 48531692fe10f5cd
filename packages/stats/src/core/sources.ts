/** The source whose numbers are invented. */
export const STAND_IN = 'stand-in'

/** The sources of the numbers in a state, in the order of their first use. Their positions are part of keys. */
export interface Sources {
  readonly names: readonly string[]
  /** Position of the source whose numbers are in use. */
  readonly current: number
}

/** Returns the sources with `name` as the current one. */
export function withSource({ names }: Pick<Sources, 'names'>, name: string): Sources {
  const known = names.indexOf(name)
  return known < 0 ? { names: [...names, name], current: names.length } : { names, current: known }
}

/** Sources of a state before the first is recorded: all numbers stored by then belong to the first source. */
export const NO_SOURCES: Sources = { names: [], current: 0 }

export const getCurrentSource = ({ names, current }: Sources): string | undefined => names[current]

/**
 * True if a node may make its source that of the cluster. Invented numbers never replace those of an API.
 * @param replaced the source that the operator allows this node to replace
 */
export function canReplace(current: string | undefined, own: string, replaced: string): boolean {
  if (current === undefined) return true
  if (current === own || own === STAND_IN) return false
  return current === STAND_IN || current === replaced
}

/** Data of a source that is not the current one. */
export interface OtherSource {
  readonly source: string
  /** Collections with numbers. */
  readonly collections: number
  /** Points of histories, those of videos included. */
  readonly points: number
  /** Records of channels and feeds. */
  readonly records: number
}
