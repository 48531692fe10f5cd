/** A unique id for a new campaign. @param bytes random bytes, one for each character of the id */
export function createId(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => (byte % 36).toString(36)).join('')
}

/** Parses tags that the user typed. */
export function parseTags(text: string): string[] {
  return [
    ...new Set(
      text
        .split(',')
        .map((tag) => tag.trim())
        .filter(Boolean),
    ),
  ]
}
