/** Persists the count of used units before the calls that the units pay for. */
export interface QuotaPersistence {
  /** Resolves when a count is persisted that is no older than this call. Never rejects. */
  save(): Promise<void>
}

/**
 * Concurrent callers share a write. While counts cannot be persisted, calls continue without waiting, and the next
 * successful write contains the right count: an outage of the state must not end the service.
 */
export function createQuotaPersistence(write: () => unknown, onFault: (fault: unknown) => void): QuotaPersistence {
  let writing: Promise<void> | undefined
  let next: Promise<void> | undefined
  let isUnavailable = false

  async function run(): Promise<void> {
    try {
      await write()
      isUnavailable = false
    } catch (fault) {
      if (!isUnavailable) onFault(fault)
      isUnavailable = true
    } finally {
      writing = undefined
    }
  }

  function begin(): Promise<void> {
    next = undefined
    return (writing = run())
  }

  return {
    async save() {
      const saved = writing ? (next ??= writing.then(begin)) : begin()
      if (!isUnavailable) await saved
    },
  }
}
