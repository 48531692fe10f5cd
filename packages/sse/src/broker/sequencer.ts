import { createSequenceTimeoutError } from '@influencer-stats/log/errors'
import type { Log } from '@influencer-stats/log/log'
import type { BackupSource } from '@influencer-stats/runtime/backup-source'
import { coalesceCalls } from '@influencer-stats/runtime/async/single-flight'
import { resolveWithin } from '@influencer-stats/runtime/async/resolve-within'
import type { TopicPut } from '../core/event.ts'
import { encodeEvents, type MovedEvent } from '../core/moved-event.ts'
import { encodePuts } from '../core/encode-puts.ts'
import type { History } from '../history/history.ts'
import type { Broker, BrokerOptions } from './broker.ts'
import { createBacklogError, FanoutBacklog } from './fanout-backlog.ts'
import {
  CLOSING_KIND,
  IMPORT_KIND,
  PUTS_KIND,
  SseStateMachine,
  type SseStateMachineOptions,
} from './sse-state-machine.ts'

/** Orders the values. A process has one sequencer. The sequencers of all nodes of a cluster have the same order. */
export interface Sequencer extends Pick<Broker, 'closeAll'> {
  /** History of the published values. */
  readonly history: History
  /** Source of backups: the history's database, or the log of a cluster node. */
  readonly backupSource: BackupSource | undefined
  /** Number of values that are published but not yet delivered to all threads. */
  readonly backlogSize: number
  /**
   * Publishes all of the values or none. Resolves with their consecutive sequence numbers once they are stored.
   * @param bytes size of the values
   * @throws Problem `FANOUT_BACKLOG_FULL`, `LOG_UNAVAILABLE`, `OUTCOME_UNKNOWN`, `DISK_FULL`, `STORE_FAILED`
   */
  publish(puts: readonly TopicPut[], bytes: number): Promise<number[]>
  /**
   * Publishes those of the events that the history does not have. Resolves with their number.
   * @throws Problem as `publish`
   */
  importEvents(events: readonly MovedEvent[]): Promise<number>
  /**
   * Resolves once this process has delivered every value that any client may have received.
   * @throws Problem `LOG_UNAVAILABLE`, `SEQUENCE_WAIT_TIMEOUT`
   */
  catchUp(): Promise<void>
  /** Closes the log and the history. Idempotent. */
  close(): Promise<void>
}

/** Log of the service. That of a cluster node is the source of its backups. */
type SseLog = Log & { readonly backupSource?: BackupSource }

export interface SequencerOptions
  extends SseStateMachineOptions, Pick<BrokerOptions, 'backlogLimits' | 'sequenceWaitTimeout'> {
  /**
   * True if a full backlog of deliveries stops the application of the log, because the values of other nodes cannot be
   * refused.
   */
  readonly isPaced: boolean
  /** Opens the log, which applies its entries to `stateMachine`. */
  openLog(stateMachine: SseStateMachine): SseLog | Promise<SseLog>
}

const NO_BODY = Buffer.alloc(0)

/** Creates a sequencer on a log. A value is delivered once its log entry is applied. */
export async function openSequencer({
  backlogLimits,
  isPaced,
  sequenceWaitTimeout,
  createHistory,
  deliver,
  openLog,
}: SequencerOptions): Promise<Sequencer> {
  /** Values published in this process that it has not applied yet. */
  const publishBacklog = new FanoutBacklog(backlogLimits)
  /** Applied values, of any node, that some threads have not received yet. */
  const deliveryBacklog = new FanoutBacklog(backlogLimits)

  const stateMachine = new SseStateMachine({
    createHistory,
    deliver(entries, bytes) {
      const delivery = deliver(entries, bytes)
      if (!delivery) return undefined
      const onDelivered = deliveryBacklog.count(entries.length, bytes)
      // Threads receive entries in order, so a thread that has these entries has all earlier ones.
      const delivered = delivery.finally(onDelivered)
      return isPaced && deliveryBacklog.isFull ? delivered : undefined
    },
  })
  const log = await openLog(stateMachine)
  const history = stateMachine.getHistory(log.epoch)

  /**
   * Waits until everything that is in the log now is applied. Every event id that any node has sent belongs to one of
   * these entries.
   */
  async function catchUp(): Promise<void> {
    const applied = await resolveWithin(log.barrier(), sequenceWaitTimeout, () => undefined)
    if (applied === undefined) throw createSequenceTimeoutError()
  }

  return {
    history,
    backupSource: log.backupSource ?? history.level,
    get backlogSize() {
      return publishBacklog.values + deliveryBacklog.values
    },
    async publish(puts, bytes) {
      if (deliveryBacklog.isFull) throw createBacklogError()
      const onApplied = publishBacklog.add(puts.length, bytes)
      try {
        const entry = { value: { puts, bytes }, encode: () => encodePuts(puts) }
        const { outcome: last } = await log.append<number>(PUTS_KIND, entry)
        return puts.map((_, i) => last - puts.length + 1 + i)
      } finally {
        onApplied()
      }
    },
    async importEvents(events) {
      if (deliveryBacklog.isFull) throw createBacklogError()
      const entry = { value: events, encode: () => encodeEvents(events) }
      return (await log.append<number>(IMPORT_KIND, entry)).outcome
    },
    async closeAll() {
      const { outcome } = await log.append<number>(CLOSING_KIND, NO_BODY)
      return outcome
    },
    // Concurrent calls share one message to the log, because clients that invent ids can cause any number of calls.
    catchUp: coalesceCalls(catchUp),
    async close() {
      await log.close()
      await history.close()
    },
  }
}
