import { openLevel } from '@influencer-stats/runtime/level'
import type { ClassicLevel } from 'classic-level'
import type { Event } from '../core/event.ts'
import { newEpoch } from '../core/event-id.ts'
import type { History, HistoryOptions, Kept, KeptTopic } from './history.ts'
import { Ring } from './ring.ts'

// e!<seq> an event; meta the epoch and the floor of topics that were forgotten.
const eventKey = (seq: number) => `e!${String(seq).padStart(16, '0')}`
const META = 'meta'

/** Data written by another version of this file is refused. */
const FORMAT = 1

/**
 * No place is given twice, not even when a power cut took the last events or places were given to what is not kept: each
 * life begins at the next million.
 */
const SEQS_PER_LIFE = 1_000_000

/** An event as it is written. */
interface Row extends Event {
  /** The topic's event before, or how far back its being unknown reaches: the floor, should this be the oldest kept. */
  readonly before: number
}

interface Meta {
  readonly epoch: string
  readonly floor: number
}

/** A ring that is read from LevelDB at the start and written to it before anybody hears of an event. */
class Journal extends Ring {
  readonly #db: ClassicLevel
  #dropped: Event[] = []
  #writtenFloor: number

  constructor(db: ClassicLevel, options: HistoryOptions, kept: Kept) {
    super(options, kept)
    this.#db = db
    this.#writtenFloor = kept.floor
  }

  /** Survives a killed process; a power cut may cost the last events. */
  override async append(events: readonly Event[]): Promise<void> {
    const dropped = this.#dropped
    const last = new Map<string, number>()
    const writes = events.map((event) => {
      const before = last.get(event.topic) ?? this.current(event.topic)?.seq ?? this.floor
      last.set(event.topic, event.seq)
      return { type: 'put' as const, key: eventKey(event.seq), value: JSON.stringify({ ...event, before } as Row) }
    })
    const deletes = dropped.map(({ seq }) => ({ type: 'del' as const, key: eventKey(seq) }))
    const { epoch, floor } = this
    if (floor !== this.#writtenFloor) {
      writes.push({ type: 'put', key: META, value: JSON.stringify({ epoch, floor } satisfies Meta) })
    }
    await this.#db.batch([...deletes, ...writes])
    this.#writtenFloor = floor
    this.#dropped = this.#dropped.slice(dropped.length)
    super.append(events)
  }

  override close(): Promise<void> {
    return this.#db.close()
  }

  protected override dropped(event: Event): void {
    this.#dropped.push(event)
  }
}

/** @throws StartError `DATA_LOCKED`, `DATA_UNWRITABLE`, `DATA_NEWER` */
export async function createLevelHistory(options: HistoryOptions): Promise<History> {
  const db = await openLevel(options.folder, { service: 'sse', format: FORMAT })
  const written = db.getSync(META)
  const meta: Meta = written ? JSON.parse(written) : { epoch: newEpoch(), floor: 0 }
  if (!written) await db.put(META, JSON.stringify(meta), { sync: true })
  const topics = new Map<string, KeptTopic & { events: Event[] }>()
  let last = 0
  for await (const text of db.values({ gt: 'e!', lt: 'e~' })) {
    const { before, ...event } = JSON.parse(text) as Row
    last = event.seq
    const known = topics.get(event.topic)
    topics.delete(event.topic)
    const topic = known ?? { topic: event.topic, floor: before, events: [] }
    topics.set(event.topic, topic)
    topic.events.push(event)
  }
  const seq = written ? Math.ceil((last + 1) / SEQS_PER_LIFE) * SEQS_PER_LIFE : 0
  return new Journal(db, options, { ...meta, seq, topics: [...topics.values()] })
}
