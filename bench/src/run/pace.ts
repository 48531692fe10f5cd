import type { Steps } from '../table.ts'

/** Rate of an open loop as a share of the capacity of the slowest start. */
const PACE_SHARE = 0.6

/** Computes the rate of open loops from the capacities of all starts that are compared (requests per second). */
export const computePace = (capacities: readonly number[]): number =>
  Math.max(1, Math.floor(PACE_SHARE * Math.min(...capacities)))

/**
 * Groups rows that get the same rate: those that are compared, directly or through others.
 * @param steps names of the rows that are compared
 * @returns the name of the group by the name of a row
 */
export function groupByPace(names: readonly string[], steps: Steps): Map<string, string> {
  const groups = new Map(names.map((name) => [name, name]))
  for (const [of, against] of steps) {
    const [own, other] = [groups.get(of), groups.get(against)]
    if (own === undefined || other === undefined) continue
    for (const [name, group] of groups) if (group === own) groups.set(name, other)
  }
  return groups
}
