/** What somebody pasted, a link or an id each: apart from one another by whatever is not part of them, each once. */
export function linksIn(text: string): string[] {
  return [...new Set(text.split(/[\s,;|"'<>()]+/).filter((word) => /[\w-]{11}/.test(word)))]
}

/** An id for a new campaign: nobody else will have it. */
export function newId(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => (byte % 36).toString(36)).join('')
}

/** Tags as somebody types them. */
export function tagsIn(text: string): string[] {
  return [
    ...new Set(
      text
        .split(',')
        .map((tag) => tag.trim())
        .filter(Boolean),
    ),
  ]
}
