import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import { setImmediate as turn } from 'node:timers/promises'
import { encodeLease, createStartPosition, Sequencer } from '../order/sequencer.ts'
import { LEASE_KIND, type FrameEntry } from '../order/frame.ts'
import { createUnavailableError } from '../errors.ts'
import { AppendGroup } from '../append-group.ts'
import { createLease } from '../lease.ts'
import type { AppendResult, LogEntry, Lease, LeaseState, Log, StateMachine } from '../log.ts'
import { AppliedProgress } from '../applied-progress.ts'

export interface LocalLogOptions {
  readonly stateMachine: StateMachine
  /** Clock of the log (ms since 1970). */
  readonly now?: () => number
}

/** Holder of every lease: only this process can request one, and no earlier process still runs. */
const LOCAL_HOLDER = 'local'

/**
 * Creates the log of a standalone service. The order of the calls is the order of the entries. The entries that arrive
 * in one turn, or while the state machine applies a batch, become one batch. The log stores nothing itself: only the
 * state machine writes to the disk.
 */
export function createLocalLog({ stateMachine, now = Date.now }: LocalLogOptions): Log {
  const start = stateMachine.getPosition() ?? createStartPosition('local')
  const progress = new AppliedProgress(start.seq)
  const leases = new Set<Lease>()
  const groups: AppendGroup[] = []
  let sequencer = new Sequencer(start)
  let running: Promise<void> | undefined
  let isClosed = false
  let closed: Promise<void> | undefined

  function openGroup(): AppendGroup {
    let group = groups.at(-1)
    if (!group) groups.push((group = new AppendGroup()))
    running ??= run()
    return group
  }

  async function run(): Promise<void> {
    await turn()
    for (let group = groups.shift(); group; group = groups.shift()) await commit(group)
    running = undefined
  }

  async function commit(group: AppendGroup): Promise<void> {
    const before = sequencer.getPosition()
    const seq = group.entries.length > 0 ? before.seq + 1 : before.seq
    try {
      const decisions = sequencer.acceptEntries(seq, now(), group.entries)
      const entries = decisions.flatMap((decision): LogEntry[] => (decision.kind === 'applied' ? [decision.entry] : []))
      const outcomes = decisions.length > 0 ? await stateMachine.apply(entries, sequencer.getPosition()) : []
      progress.advance(seq)
      group.settle(seq, decisions, outcomes)
    } catch (error) {
      // The entries were not applied: their sequence is used again.
      sequencer = new Sequencer(stateMachine.getPosition() ?? before)
      group.fail(error)
    }
  }

  function append<T>(entry: FrameEntry): Promise<AppendResult<T>> {
    return isClosed ? Promise.reject(createUnavailableError()) : openGroup().append(entry)
  }

  async function close(): Promise<void> {
    await Promise.all(Array.from(leases, (lease) => lease.close()))
    isClosed = true
    while (running) await running
    progress.close()
  }

  return {
    epoch: start.epoch,
    get state() {
      const lastContactAt = steadyNow()
      const offset = now() - lastContactAt
      return {
        applied: progress.applied,
        known: progress.applied,
        lastContactAt,
        clockOffsets: { min: offset, max: offset },
      }
    },
    append: (kind, body) => append({ kind, term: 0, body }),
    barrier: () => (isClosed ? Promise.reject(createUnavailableError()) : openGroup().barrier()),
    waitForSequence: (seq, timeout) => progress.waitForSequence(seq, timeout),
    openLease(ttl) {
      const lease = createLease({
        holder: LOCAL_HOLDER,
        ttl,
        request: async (request) => {
          const { outcome } = await append<LeaseState>({ kind: LEASE_KIND, term: 0, body: encodeLease(request) })
          return outcome
        },
        getRemainingMs: () => 0,
        append: (kind, body, term) => append({ kind, term, body }),
      })
      leases.add(lease)
      return lease
    },
    // The state machine has all data, so there are neither snapshots nor entries to trim.
    snapshot: async () => progress.applied,
    getLatestSnapshot: async () => progress.applied,
    async trim() {},
    close: () => (closed ??= close()),
  }
}
