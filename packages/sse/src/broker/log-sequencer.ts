import { createSequenceTimeoutError } from '@influencer-stats/log/errors'
import type { Log } from '@influencer-stats/log/log'
import { coalesceCalls } from '../connection-counts.ts'
import type { StreamEntry } from '../core/event.ts'
import { encodePuts } from '../core/encode-puts.ts'
import { sumBytes, createBacklogError, FanoutBacklog } from './fanout-backlog.ts'
import { CLOSING_KIND, SseStateMachine, PUTS_KIND, type SseStateMachineOptions } from './sse-state-machine.ts'
import type { Sequencer, SequencerOptions } from './sequencer.ts'

export interface LogSequencerOptions extends SequencerOptions, Pick<SseStateMachineOptions, 'create'> {
  /** Who is at a place that this node has yet to reach waits for so long (ms). */
  readonly sequenceWaitTimeout: number
  /** Opens the log, whose view this is. Resolves once that has caught up. */
  open(stateMachine: SseStateMachine): Promise<Pick<Log, 'epoch' | 'append' | 'barrier' | 'close'>>
}

const sumLength = (entries: readonly StreamEntry[]) =>
  entries.reduce((sum, entry) => ('value' in entry ? sum + entry.value.length : sum), 0)

/** A log gives the order, the same to all nodes: a value is delivered, on each, when it comes out of the log. */
export async function openLogSequencer({
  backlogLimits,
  deliver,
  create,
  sequenceWaitTimeout,
  open,
}: LogSequencerOptions): Promise<Sequencer> {
  /** Put here, and not yet out of the log. */
  const publishBacklog = new FanoutBacklog(backlogLimits)
  /** Out of the log, wherever it was put, and not yet with every thread. */
  const deliveryBacklog = new FanoutBacklog(backlogLimits)

  const stateMachine = new SseStateMachine({
    create,
    async deliver(entries) {
      const onDelivered = deliveryBacklog.count(entries.length, sumLength(entries))
      const delivery = Promise.resolve(deliver(entries)).finally(onDelivered)
      // Threads are told in order: once they have this they have all before it. Until then no more comes out of the log.
      if (deliveryBacklog.isFull) await delivery
    },
  })
  const log = await open(stateMachine)

  /** An id of any node's is of something that was in the log before this asks. @throws LOG_UNAVAILABLE, SEQUENCE_WAIT_TIMEOUT */
  async function catchUp(): Promise<void> {
    const timeout = Promise.withResolvers<never>()
    const timer = setTimeout(() => timeout.reject(createSequenceTimeoutError()), sequenceWaitTimeout)
    try {
      await Promise.race([log.barrier(), timeout.promise])
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    history: stateMachine.getHistory(log.epoch),
    get backlogLimits() {
      return publishBacklog.values + deliveryBacklog.values
    },
    async publish(puts) {
      if (deliveryBacklog.isFull) throw createBacklogError()
      const onDelivered = publishBacklog.add(puts.length, sumBytes(puts))
      try {
        const { outcome: last } = await log.append<number>(PUTS_KIND, encodePuts(puts))
        return puts.map((_, i) => last - puts.length + 1 + i)
      } finally {
        onDelivered()
      }
    },
    async closeAll() {
      const { outcome } = await log.append<number>(CLOSING_KIND, Buffer.alloc(0))
      return outcome
    },
    // Who makes ids up costs the log no more than one message at a time.
    catchUp: coalesceCalls(catchUp),
    close: () => log.close(),
  }
}
