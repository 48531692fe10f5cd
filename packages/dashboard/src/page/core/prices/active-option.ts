/** Options that Page Up and Page Down pass. */
const PAGE_OPTIONS = 10

/**
 * The number of the option that a key makes active, -1 for none. The list of an input with the ARIA role `combobox` begins
 * again after its last option. Undefined if the key does not move.
 */
export function moveActive(key: string, active: number, count: number): number | undefined {
  const last = count - 1
  if (key === 'ArrowDown') return active >= last ? Math.min(0, last) : active + 1
  if (key === 'ArrowUp') return active <= 0 ? last : active - 1
  if (key === 'PageDown') return Math.min(active + PAGE_OPTIONS, last)
  if (key === 'PageUp') return Math.min(Math.max(active - PAGE_OPTIONS, 0), last)
  return undefined
}
