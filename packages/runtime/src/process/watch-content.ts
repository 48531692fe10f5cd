// Tools that replace files rename, link or write: files are read, which needs no notice of any of it.
const INTERVAL_MS = 500

export interface WatchContentOptions {
  /** Reads the content. @throws Error if it cannot be read */
  read(): string
  /** The content in use. */
  readonly seen: string
  /** @throws Error if the new content cannot be used */
  onChange(content: string): void
  /** The content cannot be read or used; once for each cause. */
  onFault(fault: Error): void
}

/** Looks for new content of files twice a second. @returns a function that ends it, idempotent */
export function watchContent({ read, seen: first, onChange, onFault }: WatchContentOptions): () => void {
  /** The content read last, or the reason why it could not be read. */
  let seen = first

  function look(): void {
    let content: string
    try {
      content = read()
    } catch (fault) {
      const { message } = fault as Error
      if (message !== seen) onFault(fault as Error)
      seen = message
      return
    }
    if (content === seen) return
    seen = content
    try {
      onChange(content)
    } catch (fault) {
      onFault(fault as Error)
    }
  }

  const timer = setInterval(look, INTERVAL_MS).unref()
  return () => clearInterval(timer)
}
