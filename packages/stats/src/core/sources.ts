/** The source whose numbers are invented. */
export const STAND_IN = 'stand-in'

/** The sources whose numbers a state has, in the order in which they came. Their positions are part of keys. */
export interface Sources {
  readonly names: readonly string[]
  /** Position of the one whose numbers count. */
  readonly current: number
}

/** The same with `name` as the current source. */
export function withSource({ names }: Pick<Sources, 'names'>, name: string): Sources {
  const known = names.indexOf(name)
  return known < 0 ? { names: [...names, name], current: names.length } : { names, current: known }
}

/** Before a source is recorded: what is stored by then belongs to the first. */
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

/** What a state has of a source that is not the current one. */
export interface OtherSource {
  readonly source: string
  /** Collections with numbers. */
  readonly collections: number
  /** Points of histories, those of videos included. */
  readonly points: number
}
