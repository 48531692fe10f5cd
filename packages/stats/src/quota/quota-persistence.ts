/** Persists the count of used units before the calls that the units pay for. */
export interface QuotaPersistence {
  /**
   * Resolves when a count is persisted that is no older than this call, or at once while the state is unavailable. Never
   * rejects.
   */
  save(): Promise<void>
}

/**
 * Creates the persistence of a count. Concurrent callers share a write. While counts cannot be persisted, calls to
 * YouTube continue without waiting, because an outage of the state must not end the service. The next successful write
 * contains the right count.
 * @param write stores the current count
 * @param onFault called with the cause when the count cannot be stored, once per outage
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
