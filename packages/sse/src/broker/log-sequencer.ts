import { createSequenceTimeoutError } from '@influencer-stats/log/errors'
import type { Log } from '@influencer-stats/log/log'
import { coalesceCalls } from '@influencer-stats/runtime/async/single-flight'
import { resolveWithin } from '@influencer-stats/runtime/async/resolve-within'
import type { StreamEntry } from '../core/event.ts'
import { encodePuts } from '../core/encode-puts.ts'
import { sumBytes, createBacklogError, FanoutBacklog } from './fanout-backlog.ts'
import { CLOSING_KIND, SseStateMachine, PUTS_KIND, type SseStateMachineOptions } from './sse-state-machine.ts'
import type { Sequencer, SequencerOptions } from './sequencer.ts'

export interface LogSequencerOptions extends SequencerOptions, Pick<SseStateMachineOptions, 'create'> {
  /** Maximum wait of a client that resumes after a sequence number that this node has not applied yet (ms). */
  readonly sequenceWaitTimeout: number
  /** Opens the log and applies its entries to `stateMachine`. Resolves once the state machine has caught up. */
  open(stateMachine: SseStateMachine): Promise<Pick<Log, 'epoch' | 'append' | 'barrier' | 'close'>>
}

/** Bytes of the values in entries. */
const countBytes = (entries: readonly StreamEntry[]) =>
  entries.reduce((sum, entry) => ('value' in entry ? sum + Buffer.byteLength(entry.value) : sum), 0)

/**
 * Creates a sequencer on a log. All nodes get the same order. Each node delivers a value once the node has applied the
 * value's log entry.
 */
export async function openLogSequencer({
  backlogLimits,
  deliver,
  create,
  sequenceWaitTimeout,
  open,
}: LogSequencerOptions): Promise<Sequencer> {
  /** Values published by this node that this node has not applied yet. */
  const publishBacklog = new FanoutBacklog(backlogLimits)
  /** Values of any node that this node has applied and that some of its threads have not received yet. */
  const deliveryBacklog = new FanoutBacklog(backlogLimits)

  const stateMachine = new SseStateMachine({
    create,
    async deliver(entries) {
      const onDelivered = deliveryBacklog.count(entries.length, countBytes(entries))
      const delivery = Promise.resolve(deliver(entries)).finally(onDelivered)
      // Threads receive entries in order, so a thread that has these entries has all earlier ones. While the backlog is
      // full, this wait stops the application of the log.
      if (deliveryBacklog.isFull) await delivery
    },
  })
  const log = await open(stateMachine)

  /**
   * Waits until this node has applied everything that is in the log now. Every event id that any node has sent belongs
   * to one of these entries.
   * @throws Problem `LOG_UNAVAILABLE`, `SEQUENCE_WAIT_TIMEOUT`
   */
  async function catchUp(): Promise<void> {
    await resolveWithin(log.barrier(), sequenceWaitTimeout, () => Promise.reject(createSequenceTimeoutError()))
  }

  return {
    history: stateMachine.getHistory(log.epoch),
    get backlogSize() {
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
    // Concurrent calls share one message to the log, because clients that invent ids can cause any number of calls.
    catchUp: coalesceCalls(catchUp),
    close: () => log.close(),
  }
}
