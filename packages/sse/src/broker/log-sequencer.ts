import { createSequenceTimeoutError } from '@influencer-stats/log/errors'
import type { Log } from '@influencer-stats/log/log'
import { oneAtATime } from '../connections.ts'
import type { Entry } from '../core/event.ts'
import { encodePuts } from '../core/puts.ts'
import { bytesOf, fallenBehind, Lag } from './lag.ts'
import { CLOSING, LogView, PUTS, type LogViewOptions } from './log-view.ts'
import type { Sequencer, SequencerOptions } from './sequencer.ts'

export interface LogSequencerOptions extends SequencerOptions, Pick<LogViewOptions, 'create'> {
  /** Who is at a place that this node has yet to reach waits for so long (ms). */
  readonly sequenceWaitTimeout: number
  /** Opens the log, whose view this is. Resolves once that has caught up. */
  open(view: LogView): Promise<Pick<Log, 'epoch' | 'append' | 'barrier' | 'close'>>
}

const sizeOf = (entries: readonly Entry[]) =>
  entries.reduce((sum, entry) => ('value' in entry ? sum + entry.value.length : sum), 0)

/** A log gives the order, the same to all nodes: a value is delivered, on each, when it comes out of the log. */
export async function openLogSequencer({
  lag,
  deliver,
  create,
  sequenceWaitTimeout,
  open,
}: LogSequencerOptions): Promise<Sequencer> {
  /** Put here, and not yet out of the log. */
  const asked = new Lag(lag)
  /** Out of the log, wherever it was put, and not yet with every thread. */
  const told = new Lag(lag)

  const view = new LogView({
    create,
    async deliver(entries) {
      const arrived = told.count(entries.length, sizeOf(entries))
      const arriving = Promise.resolve(deliver(entries)).finally(arrived)
      // Threads are told in order: once they have this they have all before it. Until then no more comes out of the log.
      if (told.isFull) await arriving
    },
  })
  const log = await open(view)

  /** An id of any node's is of something that was in the log before this asks. @throws LOG_UNAVAILABLE, LOG_BEHIND */
  async function catchUp(): Promise<void> {
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => late.reject(createSequenceTimeoutError()), sequenceWaitTimeout)
    try {
      await Promise.race([log.barrier(), late.promise])
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    history: view.historyOf(log.epoch),
    get lag() {
      return asked.values + told.values
    },
    async publish(puts) {
      if (told.isFull) throw fallenBehind()
      const arrived = asked.add(puts.length, bytesOf(puts))
      try {
        const { outcome: last } = await log.append<number>(PUTS, encodePuts(puts))
        return puts.map((_, i) => last - puts.length + 1 + i)
      } finally {
        arrived()
      }
    },
    async closeAll() {
      const { outcome } = await log.append<number>(CLOSING, Buffer.alloc(0))
      return outcome
    },
    // Who makes ids up costs the log no more than one message at a time.
    catchUp: oneAtATime(catchUp),
    close: () => log.close(),
  }
}
