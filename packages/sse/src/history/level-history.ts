import { readBootId } from '@influencer-stats/runtime/boot-id'
import type { OwnRow } from '@influencer-stats/runtime/own-row'
import { openSharedLevel, type SharedLevel } from '@influencer-stats/runtime/shared-level'
import { getTopics, type Event } from '../core/event.ts'
import { createEpoch } from '../core/event-id.ts'
import type { History, HistoryOptions, HistoryState, TopicState, LostRange } from './history.ts'
import { RingHistory } from './ring-history.ts'

// Keys: `e!<seq>` is an event (`EventRow`); `meta` is the state of the history (`HistoryMeta`).
const toEventKey = (seq: number) => `e!${String(seq).padStart(16, '0')}`
const META_KEY = 'meta'

/**
 * Version of the format. Older data is upgraded; newer data is refused. Since version 2, `meta` has a ceiling. Since
 * version 3, events may have the optional fields of updates.
 */
const FORMAT_VERSION = 3

/** Number of sequence numbers that one write of `meta` reserves. */
const RESERVED_SEQS = 1_000_000

/** Maximum number of lost ranges: one for each run that ended uncleanly. Beyond it, the two oldest are merged. */
const MAX_LOST_RANGES = 64

/** An event as it is stored. */
interface EventRow extends Event {
  /**
   * Sequence number of the topic's previous event, or the floor of the history if there is none. If this event is the
   * topic's oldest stored event, this number is the topic's floor.
   */
  readonly before: number
  /** The same number for each of the event's alternate topics. */
  readonly others?: readonly number[]
}

interface HistoryMeta {
  readonly epoch: string
  /** As in `HistoryState`. */
  readonly floor: number
  /**
   * No higher sequence number was ever assigned. The next run begins here, even if a power cut lost the last events.
   */
  readonly ceiling: number
  readonly lost: readonly LostRange[]
  /** Sequence number at which the run that wrote this row began. */
  readonly start?: number
  /** Id of the machine's boot in which this row was written; undefined if unknown. */
  readonly boot?: string
  /** True if all events were on the disk when the last run ended. */
  readonly clean?: boolean
}

/**
 * A `RingHistory` that starts with the events in LevelDB. Events are written to LevelDB before any client receives
 * them.
 */
class LevelHistory extends RingHistory {
  readonly level: SharedLevel
  #meta: HistoryMeta
  #dropped: Event[]

  /** @param dropped events that are still in the database but no longer in the history */
  constructor(level: SharedLevel, options: HistoryOptions, state: HistoryState, meta: HistoryMeta, dropped: Event[]) {
    super(options, state)
    this.level = level
    this.#meta = meta
    this.#dropped = dropped
  }

  /**
   * Appends events, which survive a killed process. A power cut may lose the last events.
   * @throws Problem `DISK_FULL`, `STORE_FAILED`
   */
  override async append(events: readonly Event[], seq = events.at(-1)!.seq, onAppended?: () => void): Promise<void> {
    const dropped = this.#dropped
    const last = new Map<string, number>()
    const writes = events.map((event) => {
      const [before, ...others] = getTopics(event).map((topic) => {
        const seqBefore = last.get(topic) ?? this.getCurrent(topic)?.seq ?? this.floor
        last.set(topic, event.seq)
        return seqBefore
      })
      const row = { ...event, before, ...(others.length > 0 && { others }) } as EventRow
      return { type: 'put' as const, key: toEventKey(event.seq), value: JSON.stringify(row) }
    })
    const deletes = dropped.map(({ seq: droppedSeq }) => ({ type: 'del' as const, key: toEventKey(droppedSeq) }))
    const meta = this.#buildMeta(seq)
    if (meta !== this.#meta) writes.push({ type: 'put', key: META_KEY, value: JSON.stringify(meta) })
    // A client gets a sequence number only after the reservation of this number is on the disk.
    const sync = meta.ceiling !== this.#meta.ceiling
    if (writes.length > 0) await this.level.write((db) => db.batch([...deletes, ...writes], { sync }))
    this.#meta = meta
    this.#dropped = this.#dropped.slice(dropped.length)
    await super.append(events, seq, onAppended)
  }

  /** Idempotent. */
  override close(): Promise<void> {
    return (this.#closed ??= this.#end())
  }
  #closed: Promise<void> | undefined

  protected override onDropped(event: Event): void {
    this.#dropped.push(event)
  }

  async #end(): Promise<void> {
    try {
      await this.level.flush()
      await this.level.write((db) => db.put(META_KEY, JSON.stringify({ ...this.#meta, clean: true }), { sync: true }))
    } catch {
      // The failed write was reported earlier. The next run assumes that this run ended uncleanly.
    }
    await this.level.close()
  }

  #buildMeta(seq: number): HistoryMeta {
    const { floor } = this
    const ceiling = seq < this.#meta.ceiling ? this.#meta.ceiling : getCeilingAbove(seq)
    const isSame = floor === this.#meta.floor && ceiling === this.#meta.ceiling
    return isSame ? this.#meta : { ...this.#meta, floor, ceiling }
  }
}

const getCeilingAbove = (seq: number) => (Math.floor(seq / RESERVED_SEQS) + 1) * RESERVED_SEQS

/** The row `meta`. Without it, the next run would assign the same event ids again. */
export const ownRow: OwnRow = {
  key: Buffer.from(META_KEY),
  since: 1,
  async rebuild(db) {
    const range = { gt: Buffer.from('e!'), lt: Buffer.from('e~'), limit: 1 }
    const toSeq = ([key]: Buffer[]) => (key === undefined ? 0 : Number(key.toString('latin1', 2)))
    const first = toSeq(await db.keys(range).all())
    const last = toSeq(await db.keys({ ...range, reverse: true }).all())
    const ceiling = getCeilingAbove(last) + RESERVED_SEQS
    const meta: HistoryMeta = {
      epoch: createEpoch(),
      floor: Math.max(0, first - 1),
      ceiling,
      lost: [{ from: 0, before: ceiling }],
    }
    await db.put(Buffer.from(META_KEY), Buffer.from(JSON.stringify(meta)), { sync: true })
    return ['the sequence of event ids; new ids begin a new history, and clients that resume get an event `gap`']
  },
}

/** @throws StartError with a code `DATA_...`: see `openLevel` */
export async function createLevelHistory(options: HistoryOptions): Promise<History> {
  const { folder, log } = options
  const level = await openSharedLevel(folder, {
    service: 'sse',
    format: FORMAT_VERSION,
    ownRow,
    upgrades: { 1: addCeiling, 2: async () => {} },
    log,
  })
  const { db } = level
  const stored = db.getSync(META_KEY)
  const previous: HistoryMeta | undefined = stored ? JSON.parse(stored) : undefined
  const topics: TopicsByName = new Map()
  const storedEvents: Event[] = []
  for await (const text of db.values({ gt: 'e!', lt: 'e~' })) {
    const { before, others = [], ...event } = JSON.parse(text) as EventRow
    storedEvents.push(event)
    for (const [i, name] of getTopics(event).entries())
      addStoredEvent(topics, name, i === 0 ? before : others[i - 1]!, event)
  }
  const seq = previous?.ceiling ?? 0
  const lost = previous ? findLostRanges(previous, storedEvents.at(-1)?.seq ?? 0) : []
  const meta: HistoryMeta = {
    // A restored or copied folder gets a new epoch, because its original may have used the same ids for other events.
    epoch: previous && !level.isNewHistory ? previous.epoch : createEpoch(),
    floor: previous?.floor ?? 0,
    ceiling: seq + RESERVED_SEQS,
    lost,
    start: seq,
    boot: readBootId(),
  }
  await level.write(() => db.put(META_KEY, JSON.stringify(meta), { sync: true }))
  level.beginHistory()
  const { epoch, floor } = meta
  const heldEvents = new Set([...topics.values()].flatMap(({ events }) => events))
  const dropped = storedEvents.filter((event) => !heldEvents.has(event))
  return new LevelHistory(level, options, { epoch, floor, seq, lost, topics: [...topics.values()] }, meta, dropped)
}

type TopicsByName = Map<string, TopicState & { events: Event[] }>

/** Adds an event to one of its topics. @param before as in `EventRow` */
function addStoredEvent(topics: TopicsByName, name: string, before: number, event: Event): void {
  const known = topics.get(name)
  topics.delete(name)
  // If the topic's previous event is not stored, the topic begins again with this event. An older event may be stored
  // only because another topic has it; it is not part of this topic any more.
  const topic = known?.events.at(-1)!.seq === before ? known : { topic: name, floor: before, events: [] }
  topics.set(name, topic)
  topic.events.push(event)
}

/**
 * Returns the sequence numbers that earlier runs may have assigned to events that are lost.
 * @param last sequence number of the last stored event
 */
function findLostRanges({ lost, clean, boot, start = 0, ceiling }: HistoryMeta, last: number): readonly LostRange[] {
  if (clean) return lost
  // If only the process was killed (the boot is the same), the system has all data that the process wrote. So only
  // events after the last stored event may be lost. After a power cut, the extent of the loss is unknown.
  const from = boot !== undefined && boot === readBootId() ? Math.max(last, start) + 1 : 0
  const ranges = [...lost, { from, before: ceiling }]
  if (from === 0) return ranges.slice(-1)
  if (ranges.length <= MAX_LOST_RANGES) return ranges
  const [first, second, ...rest] = ranges
  return [{ from: first!.from, before: second!.before }, ...rest]
}

/**
 * Upgrades format 1, in which each run began at the next million after the last event. If a power cut lost events,
 * their ids could be assigned again.
 */
async function addCeiling(db: SharedLevel['db']): Promise<void> {
  const stored = await db.get(META_KEY)
  if (stored === undefined) return
  const [lastKey] = await db.keys({ gt: 'e!', lt: 'e~', reverse: true, limit: 1 }).all()
  const last = lastKey === undefined ? 0 : Number(lastKey.slice(2))
  const { epoch, floor } = JSON.parse(stored) as HistoryMeta
  const meta: HistoryMeta = { epoch, floor, ceiling: getCeilingAbove(last) + RESERVED_SEQS, lost: [] }
  await db.put(META_KEY, JSON.stringify(meta))
}
