import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import { setImmediate as turn } from 'node:timers/promises'
import { encodeLease, beginning, Order } from '../order/order.ts'
import { LEASE, type FrameEntry } from '../order/frame.ts'
import { unavailable } from '../errors.ts'
import { Group } from '../group.ts'
import { createLease } from '../lease.ts'
import type { Appended, Entry, Lease, LeaseState, Log, View } from '../log.ts'
import { Progress } from '../progress.ts'

export interface LocalLogOptions {
  readonly view: View
  /** ms since 1970 */
  readonly now?: () => number
}

/** This process is the only one that may hold the lease, and none before it still runs. */
const HOLDER = 'local'

/**
 * The log of a service that runs alone: main gives the order, and what is appended in one turn is one batch of the view,
 * which is the only thing that is written.
 */
export function createLocalLog({ view, now = Date.now }: LocalLogOptions): Log {
  const start = view.position() ?? beginning('local')
  const progress = new Progress(start.seq)
  const leases = new Set<Lease>()
  const groups: Group[] = []
  let order = new Order(start)
  let running: Promise<void> | undefined
  let isClosed = false
  let closed: Promise<void> | undefined

  function gather(): Group {
    let group = groups.at(-1)
    if (!group) groups.push((group = new Group()))
    running ??= run()
    return group
  }

  async function run(): Promise<void> {
    await turn()
    for (let group = groups.shift(); group; group = groups.shift()) await commit(group)
    running = undefined
  }

  async function commit(group: Group): Promise<void> {
    const before = order.position()
    const seq = group.entries.length > 0 ? before.seq + 1 : before.seq
    try {
      const verdicts = order.next(seq, now(), group.entries)
      const entries = verdicts.flatMap((verdict): Entry[] => (verdict.kind === 'applied' ? [verdict.entry] : []))
      const outcomes = verdicts.length > 0 ? await view.apply(entries, order.position()) : []
      progress.advance(seq)
      group.settle(seq, verdicts, outcomes)
    } catch (error) {
      order = new Order(view.position() ?? before)
      group.fail(error)
    }
  }

  function append<T>(entry: FrameEntry): Promise<Appended<T>> {
    return isClosed ? Promise.reject(unavailable()) : gather().append(entry)
  }

  async function close(): Promise<void> {
    await Promise.all(Array.from(leases, (lease) => lease.close()))
    isClosed = true
    while (running) await running
    progress.end()
  }

  return {
    epoch: start.epoch,
    get state() {
      const contact = steadyNow()
      const offset = now() - contact
      return { applied: progress.applied, known: progress.applied, contact, clockOffsets: { min: offset, max: offset } }
    },
    append: (kind, body) => append({ kind, term: 0, body }),
    barrier: () => (isClosed ? Promise.reject(unavailable()) : gather().barrier()),
    reached: (seq, timeout) => progress.reached(seq, timeout),
    lease(ttl) {
      const lease = createLease({
        holder: HOLDER,
        ttl,
        ask: async (request) => {
          const { outcome } = await append<LeaseState>({ kind: LEASE, term: 0, body: encodeLease(request) })
          return outcome
        },
        left: () => 0,
        append: (kind, body, term) => append({ kind, term, body }),
      })
      leases.add(lease)
      return lease
    },
    // What there is lies in the view, and nothing else.
    snapshot: async () => progress.applied,
    newestSnapshot: async () => progress.applied,
    async trim() {},
    close: () => (closed ??= close()),
  }
}
