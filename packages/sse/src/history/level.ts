import { readBootId } from '@influencer-stats/runtime/boot-id'
import type { OwnRow } from '@influencer-stats/runtime/own-row'
import { openSharedLevel, type SharedLevel } from '@influencer-stats/runtime/shared-level'
import { topicsOf, type Event } from '../core/event.ts'
import { newEpoch } from '../core/event-id.ts'
import type { History, HistoryOptions, Kept, KeptTopic, LostRange } from './history.ts'
import { Ring } from './ring.ts'

// e!<seq> an event; meta what is known of all.
const eventKey = (seq: number) => `e!${String(seq).padStart(16, '0')}`
const META = 'meta'

/** Data written by another version of this file is refused. Since 2, `meta` has a ceiling; since 3, updates have more. */
const FORMAT = 3

/** So many places are reserved at a time. */
const RESERVE = 1_000_000

/** Of so many lives that ended badly it is known which ids may lie in what they lost; the oldest are taken together. */
const MOST_LOST = 64

/** An event as it is written. */
interface Row extends Event {
  /** The topic's event before, or how far back its being unknown reaches: the floor, should this be the oldest kept. */
  readonly before: number
  /** The same of each of its other topics. */
  readonly others?: readonly number[]
}

interface Meta {
  readonly epoch: string
  readonly floor: number
  /** No place above was ever given: each life begins there, whatever a power cut took of the one before. */
  readonly ceiling: number
  readonly lost: readonly LostRange[]
  /** Where the life that wrote this began. */
  readonly start?: number
  /** Which run of the machine wrote this; nothing where that is not known. */
  readonly boot?: string
  /** Whether everything had been written to the disk when the last life ended. */
  readonly clean?: boolean
}

/** A ring that is read from LevelDB at the start and written to it before anybody hears of an event. */
class Journal extends Ring {
  readonly level: SharedLevel
  #meta: Meta
  #dropped: Event[]

  /** @param dropped what is there still and no longer kept */
  constructor(level: SharedLevel, options: HistoryOptions, kept: Kept, meta: Meta, dropped: Event[]) {
    super(options, kept)
    this.level = level
    this.#meta = meta
    this.#dropped = dropped
  }

  /** Survives a killed process; a power cut may cost the last events. @throws Problem `DISK_FULL`, `STORE_FAILED` */
  override async append(events: readonly Event[], seq = events.at(-1)!.seq, onKept?: () => void): Promise<void> {
    const dropped = this.#dropped
    const last = new Map<string, number>()
    const writes = events.map((event) => {
      const [before, ...others] = topicsOf(event).map((topic) => {
        const seqBefore = last.get(topic) ?? this.current(topic)?.seq ?? this.floor
        last.set(topic, event.seq)
        return seqBefore
      })
      const row = { ...event, before, ...(others.length > 0 && { others }) } as Row
      return { type: 'put' as const, key: eventKey(event.seq), value: JSON.stringify(row) }
    })
    const deletes = dropped.map(({ seq: gone }) => ({ type: 'del' as const, key: eventKey(gone) }))
    const meta = this.#metaFor(seq)
    if (meta !== this.#meta) writes.push({ type: 'put', key: META, value: JSON.stringify(meta) })
    // A place is given out only when the disk knows that it may have been.
    const sync = meta.ceiling !== this.#meta.ceiling
    if (writes.length > 0) await this.level.write((db) => db.batch([...deletes, ...writes], { sync }))
    this.#meta = meta
    this.#dropped = this.#dropped.slice(dropped.length)
    await super.append(events, seq, onKept)
  }

  /** Idempotent. */
  override close(): Promise<void> {
    return (this.#closed ??= this.#end())
  }
  #closed: Promise<void> | undefined

  protected override dropped(event: Event): void {
    this.#dropped.push(event)
  }

  async #end(): Promise<void> {
    try {
      await this.level.flush()
      await this.level.write((db) => db.put(META, JSON.stringify({ ...this.#meta, clean: true }), { sync: true }))
    } catch {
      // The disk refuses, which was told: the next life takes this one for one that ended badly.
    }
    await this.level.close()
  }

  #metaFor(seq: number): Meta {
    const { floor } = this
    const ceiling = seq < this.#meta.ceiling ? this.#meta.ceiling : ceilingAbove(seq)
    const same = floor === this.#meta.floor && ceiling === this.#meta.ceiling
    return same ? this.#meta : { ...this.#meta, floor, ceiling }
  }
}

const ceilingAbove = (seq: number) => (Math.floor(seq / RESERVE) + 1) * RESERVE

/** Row with the state of all events. Without it ids would repeat. */
export const ownRow: OwnRow = {
  key: Buffer.from(META),
  since: 1,
  async rebuild(db) {
    const range = { gt: Buffer.from('e!'), lt: Buffer.from('e~'), limit: 1 }
    const seqOf = ([key]: Buffer[]) => (key === undefined ? 0 : Number(key.toString('latin1', 2)))
    const first = seqOf(await db.keys(range).all())
    const last = seqOf(await db.keys({ ...range, reverse: true }).all())
    const ceiling = ceilingAbove(last) + RESERVE
    const meta: Meta = {
      epoch: newEpoch(),
      floor: Math.max(0, first - 1),
      ceiling,
      lost: [{ from: 0, before: ceiling }],
    }
    await db.put(Buffer.from(META), Buffer.from(JSON.stringify(meta)), { sync: true })
    return ['the sequence of event ids; new ids belong to another history, and clients that resume get a gap']
  },
}

/** @throws StartError `DATA_LOCKED`, `DATA_UNWRITABLE`, `DATA_NEWER` */
export async function createLevelHistory(options: HistoryOptions): Promise<History> {
  const { folder, log } = options
  const level = await openSharedLevel(folder, {
    service: 'sse',
    format: FORMAT,
    ownRow,
    upgrades: { 1: addCeiling, 2: async () => {} },
    log,
  })
  const { db } = level
  const written = db.getSync(META)
  const old: Meta | undefined = written ? JSON.parse(written) : undefined
  const topics: ReadTopics = new Map()
  const read: Event[] = []
  for await (const text of db.values({ gt: 'e!', lt: 'e~' })) {
    const { before, others = [], ...event } = JSON.parse(text) as Row
    read.push(event)
    for (const [i, name] of topicsOf(event).entries()) addRead(topics, name, i === 0 ? before : others[i - 1]!, event)
  }
  const seq = old?.ceiling ?? 0
  const lost = old ? lostBy(old, read.at(-1)?.seq ?? 0) : []
  const meta: Meta = {
    // The original of a restored or copied folder may have used the same ids for other events.
    epoch: old && !level.isNewHistory ? old.epoch : newEpoch(),
    floor: old?.floor ?? 0,
    ceiling: seq + RESERVE,
    lost,
    start: seq,
    boot: readBootId(),
  }
  await level.write(() => db.put(META, JSON.stringify(meta), { sync: true }))
  level.beginHistory()
  const { epoch, floor } = meta
  const held = new Set([...topics.values()].flatMap(({ events }) => events))
  const dropped = read.filter((event) => !held.has(event))
  return new Journal(level, options, { epoch, floor, seq, lost, topics: [...topics.values()] }, meta, dropped)
}

type ReadTopics = Map<string, KeptTopic & { events: Event[] }>

/** @param before the topic's event before this one, or how far back its being unknown reaches */
function addRead(topics: ReadTopics, name: string, before: number, event: Event): void {
  const known = topics.get(name)
  topics.delete(name)
  // One that is there for the sake of another topic may lie before what this one has lost.
  const topic = known?.events.at(-1)!.seq === before ? known : { topic: name, floor: before, events: [] }
  topics.set(name, topic)
  topic.events.push(event)
}

/** What the lives before may have lost, of which clients must be told. @param last the last event that is there */
function lostBy({ lost, clean, boot, start = 0, ceiling }: Meta, last: number): readonly LostRange[] {
  if (clean) return lost
  // A killed process leaves what it wrote to the system: who was at a place that is still there missed nothing. What a
  // power cut took nobody knows.
  const from = boot !== undefined && boot === readBootId() ? Math.max(last, start) + 1 : 0
  const all = [...lost, { from, before: ceiling }]
  if (from === 0) return all.slice(-1)
  if (all.length <= MOST_LOST) return all
  const [first, second, ...rest] = all
  return [{ from: first!.from, before: second!.before }, ...rest]
}

/** In format 1 each life began at the next million after the last event, so that a lost one might be followed by its like. */
async function addCeiling(db: SharedLevel['db']): Promise<void> {
  const written = await db.get(META)
  if (written === undefined) return
  const [lastKey] = await db.keys({ gt: 'e!', lt: 'e~', reverse: true, limit: 1 }).all()
  const last = lastKey === undefined ? 0 : Number(lastKey.slice(2))
  const { epoch, floor } = JSON.parse(written) as Meta
  const meta: Meta = { epoch, floor, ceiling: ceilingAbove(last) + RESERVE, lost: [] }
  await db.put(META, JSON.stringify(meta))
}
