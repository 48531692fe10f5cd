/**
 * Interval of reads (ms). Tools replace files by a rename, a link or a write, and reading the content detects all of
 * them.
 */
const INTERVAL_MS = 500

export interface WatchContentOptions {
  /** Reads the content. @throws Error if it cannot be read */
  read(): string
  /** The content in use at the start. */
  readonly initial: string
  /** Called with new content. @throws Error if the content cannot be used */
  onChange(content: string): void
  /** Called if the content cannot be read or used, but not again for the same failure of `read` in succession. */
  onFault(fault: Error): void
}

/** Checks for new content of files twice a second. @returns an idempotent function that ends the checks */
export function watchContent({ read, initial, onChange, onFault }: WatchContentOptions): () => void {
  /** The content read last, or the reason why it could not be read. */
  let seen = initial

  function checkContent(): void {
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

  const timer = setInterval(checkContent, INTERVAL_MS).unref()
  return () => clearInterval(timer)
}
