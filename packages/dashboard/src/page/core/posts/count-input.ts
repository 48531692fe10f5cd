const GROUPED_PATTERN = /^\d{1,3}([.,\s'’]\d{3})+$/
const COUNT_PATTERN = /^\d{1,15}$/

/**
 * Reads a count such as 12500, 12,500, 12.500 or 12 500.
 * @returns null for an empty text, undefined for a text that is no count
 */
export function parseCount(typed: string): number | null | undefined {
  const plain = typed.trim()
  if (plain === '') return null
  const digits = GROUPED_PATTERN.test(plain) ? plain.replace(/\D/g, '') : plain
  return COUNT_PATTERN.test(digits) ? Number(digits) : undefined
}
