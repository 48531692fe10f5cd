import { errors as logErrors } from '@influencer-stats/log/errors'
import type { Lease } from '@influencer-stats/log/log'

/** Lease of the log. A node competes for it only while its source is the cluster's. */
export interface PollerLease extends Lease {
  /** Starts to compete for the lease, or stops and releases it. */
  setAllowed(isAllowed: boolean): void
}

/** @param open opens the log's lease, for which this node then competes */
export function createPollerLease(open: () => Lease): PollerLease {
  let lease: Lease | undefined
  let closing: Promise<unknown> = Promise.resolve()
  let isAllowed = false
  let isClosed = false
  /** Resolves when `lease` changes. */
  let changed = Promise.withResolvers<void>()

  function setLease(next: Lease | undefined): void {
    lease = next
    changed.resolve()
    changed = Promise.withResolvers()
  }

  function setAllowed(next: boolean): void {
    if (next === isAllowed) return
    isAllowed = next
    if (lease) {
      closing = lease.close()
      setLease(undefined)
    }
    // The next lease opens only after the previous one is closed. Otherwise the release of the previous lease would also
    // release the next one.
    if (isAllowed) closing = closing.then(() => void (isAllowed && !isClosed && !lease && setLease(open())))
  }

  return {
    setAllowed,
    get term() {
      return lease?.term
    },
    append: async (kind, body) => {
      if (!lease) throw logErrors.LEASE_LOST()
      return lease.append(kind, body)
    },
    async waitUntilHeld() {
      for (;;) {
        if (isClosed) throw logErrors.LOG_UNAVAILABLE()
        const current = lease
        if (!current) {
          await changed.promise
          continue
        }
        try {
          return await current.waitUntilHeld()
        } catch (fault) {
          // If `lease` has changed, `setAllowed` closed `current`: wait for the next lease.
          if (current === lease) throw fault
        }
      }
    },
    async waitUntilLost() {
      await lease?.waitUntilLost()
    },
    async close() {
      isClosed = true
      setAllowed(false)
      changed.resolve()
      await closing
    },
  }
}
