/** Keeps the count of units used before the calls that they pay for. */
export interface QuotaPersistence {
  /** Resolves when a count is kept that is no older than this call. Never rejects. */
  save(): Promise<void>
}

/**
 * Those who wait at the same time share a write. Where counts cannot be kept, calls go on without waiting, and the next
 * count that can be is right again: an outage of the state must not end the service.
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
