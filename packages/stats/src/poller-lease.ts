import { errors as logErrors } from '@influencer-stats/log/errors'
import type { Lease } from '@influencer-stats/log/log'

/** The log's lease of a node that takes part in it only while its numbers are those of the cluster. */
export interface PollerLease extends Lease {
  /** Takes part from now on, or gives up what it holds. */
  setAllowed(isAllowed: boolean): void
}

/** @param open takes part in the lease */
export function createPollerLease(open: () => Lease): PollerLease {
  let lease: Lease | undefined
  let closing: Promise<unknown> = Promise.resolve()
  let isAllowed = false
  let isClosed = false
  /** Resolves when `lease` is another. */
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
    // One that gives up its hold would end that of the next.
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
    async held() {
      for (;;) {
        if (isClosed) throw logErrors.LOG_UNAVAILABLE()
        const current = lease
        if (!current) {
          await changed.promise
          continue
        }
        try {
          return await current.held()
        } catch (fault) {
          // Otherwise `setAllowed` has closed it.
          if (current === lease) throw fault
        }
      }
    },
    async lost() {
      await lease?.lost()
    },
    async close() {
      isClosed = true
      setAllowed(false)
      changed.resolve()
      await closing
    },
  }
}
