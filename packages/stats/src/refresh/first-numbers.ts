import { resolveWithin } from '@influencer-stats/runtime/async/resolve-within'
import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import { prepare, type PreparedReply, type StatsReading } from '../core/prepared-reply.ts'
import { errors } from '../errors.ts'
import type { QuotaMeter } from '../quota/quota-meter.ts'
import type { Collection } from '../state/stats-state.ts'
import type { ReplyEntry, ReplyTable } from './reply-table.ts'
import type { Schedule } from './schedule.ts'
import { withRetryAfter } from './upstream-reader.ts'
import type { UpstreamStatus } from './upstream-status.ts'

export interface FirstNumbersOptions {
  readonly meter: Pick<QuotaMeter, 'remainingQuota'>
  /** Maximum time that a read waits for a collection's first numbers (ms). */
  readonly readTimeout: number
  /**
   * Requests a collection's first numbers from the polling node. Rejects if the request cannot be published; only then is
   * it called again for the same version of the collection.
   */
  onReadRequested?(id: string): Promise<void>
  /** Called with videos that have no numbers because a call failed. */
  onFailed?(ids: readonly string[], detail: string): void
}

/** The poller, as its reads see it. */
export interface PolledNumbers {
  readonly replyTable: ReplyTable
  /** Undefined while another node polls. */
  readonly schedule: Schedule | undefined
  readonly status: UpstreamStatus
  /** Starts the calls that are due. */
  wake(): void
}

/** Reads of numbers on the main thread. A read waits until all videos of its collection were tried. */
export class FirstNumbers {
  readonly #options: FirstNumbersOptions
  readonly #polled: PolledNumbers

  constructor(polled: PolledNumbers, options: FirstNumbersOptions) {
    this.#polled = polled
    this.#options = options
  }

  /** Moves the videos of a collection without numbers to the front of the schedule. */
  prioritize({ videos }: Collection): void {
    const { schedule, replyTable } = this.#polled
    schedule?.prioritize(replyTable.videos.getUntried(videos))
  }

  /** Records that a request on some node waits for a collection's first numbers. */
  request(id: string): void {
    const { replyTable, schedule, wake } = this.#polled
    const entry = replyTable.getEntry(id)
    if (!entry || entry.reply) return
    entry.isRequested = true
    if (!schedule) return
    const { videos } = entry.collection
    const failed = replyTable.videos.getFault(videos)
    if (failed && entry.isSettled) this.#options.onFailed?.(videos, failed.fault.message)
    this.prioritize(entry.collection)
    wake()
  }

  /**
   * Returns the reply for a collection; undefined if there is no such collection.
   * @throws Problem `UPSTREAM_UNAVAILABLE` with `Retry-After` if no numbers are known
   */
  async read(id: string): Promise<PreparedReply | undefined> {
    const entry = await this.#waitForEntry(id)
    return entry && (entry.reply ?? prepare(this.#getReading(entry)))
  }

  /** As `read`, but returns the numbers of each video. */
  async readNumbers(id: string): Promise<StatsReading | undefined> {
    const entry = await this.#waitForEntry(id)
    return entry && this.#getReading(entry)
  }

  /**
   * Returns the entry of a collection once all its videos were tried. Returns it earlier at the timeout of the read, and
   * at once if an outage lasts longer than that timeout.
   */
  async #waitForEntry(id: string): Promise<ReplyEntry | undefined> {
    const deadline = steadyNow() + this.#options.readTimeout
    for (;;) {
      const { replyTable, status, schedule } = this.#polled
      const entry = replyTable.getEntry(id)
      if (!entry || entry.isSettled) return entry
      this.#requestRead(entry)
      // No call will begin before the timeout, so the read does not wait for it.
      if ((status.getOutage(schedule?.circuit)?.until ?? 0) > deadline) return entry
      entry.waiter ??= Promise.withResolvers()
      if (!(await resolveWithin(entry.waiter.promise, deadline - steadyNow(), () => false))) return entry
    }
  }

  #requestRead(entry: ReplyEntry): void {
    const wasRequested = entry.isRequested
    entry.isRequested = true
    if (this.#polled.schedule) {
      this.prioritize(entry.collection)
      this.#polled.wake()
    } else if (!wasRequested)
      this.#options.onReadRequested?.(entry.collection.id).catch(() => (entry.isRequested = false))
  }

  /** @throws Problem `UPSTREAM_UNAVAILABLE` with `Retry-After` if no numbers are known */
  #getReading({ collection }: ReplyEntry): StatsReading {
    const { replyTable, schedule, status } = this.#polled
    const reading = replyTable.read(collection)
    if (reading) return reading
    const now = steadyNow()
    const failed = replyTable.videos.getFault(collection.videos)
    const outage = status.getOutage(schedule?.circuit)
    const problem = outage?.problem ?? failed?.fault
    if (!problem) throw withRetryAfter(errors.UPSTREAM_UNAVAILABLE('no response from YouTube in time'), 1)
    const { remainingQuota } = this.#options.meter
    const retryAt = failed ? (schedule?.getRetryAt(failed.id, now, remainingQuota) ?? now) : now
    throw withRetryAfter(problem, Math.max(retryAt, outage?.until ?? now) - now)
  }
}
