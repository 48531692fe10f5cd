import { counter } from '@influencer-stats/runtime/counter'
import { gauge } from '@influencer-stats/runtime/gauge'
import { levelSizes } from '@influencer-stats/runtime/level-sizes'
import { Gauge, Histogram, type Registry } from '@influencer-stats/runtime/prom-client'
import type { KvLevel, Level } from './store/commit.ts'
import type { Queue } from './store/store.ts'
import type { WatchFigures } from './watch/watchers.ts'

const LEVELS = 7
// LevelDB delays each write by 1 ms from 8 files at level 0 on, and stops all from 12 on.
const SLOWDOWN_FILES = 8
const STOP_FILES = 12

const filesAt = (db: Level, level: number) => Number(db.getProperty(`leveldb.num-files-at-level${level}`))

/** The figures of the database, of main. */
export function reportLevel(level: KvLevel, cacheMegabytes: number, registry: Registry): void {
  const { db } = level
  const files: Gauge = new Gauge({
    name: 'kv_level_files',
    help: 'Table files at each level of LevelDB.',
    labelNames: ['level'],
    registers: [registry],
    collect() {
      for (let level = 0; level < LEVELS; level++) files.set({ level }, filesAt(db, level))
    },
  })
  const sizes: Gauge = new Gauge({
    name: 'kv_level_bytes',
    help: 'Size of the table files at each level of LevelDB, rounded to MiB.',
    labelNames: ['level'],
    registers: [registry],
    collect() {
      for (const [level, bytes] of levelSizes(db).entries()) sizes.set({ level }, bytes)
    },
  })
  gauge(registry, 'kv_write_stall', 'Whether LevelDB slows writes down (1) or stops them (2).', () => {
    const behind = filesAt(db, 0)
    return behind >= STOP_FILES ? 2 : behind >= SLOWDOWN_FILES ? 1 : 0
  })
  gauge(registry, 'kv_writes_refused', 'Whether writes are refused: one failed, or free space is low.', () =>
    level.refusal() ? 1 : 0,
  )
  gauge(registry, 'kv_block_cache_bytes', "Size of LevelDB's cache of blocks.", () => cacheMegabytes * 1_048_576)
}

/** The figures of a thread's queue of writes. */
export function reportQueue(queue: Queue, registry: Registry): void {
  gauge(registry, 'kv_queue_writes', 'Writes that wait to be written.', () => queue.writes)
  gauge(registry, 'kv_queue_bytes', 'Bytes that wait to be written.', () => queue.bytes)
}

/** The figures of a thread's streams of changes. */
export function reportWatchers(figures: WatchFigures, registry: Registry): void {
  gauge(registry, 'kv_watchers', 'Streams of changes.', () => figures.streams)
  gauge(
    registry,
    'kv_watch_unread_bytes',
    'Memory of changes that clients of streams have not read.',
    () => figures.unreadBytes,
  )
  counter(registry, 'kv_watch_events_total', 'Changes that were sent to streams.', () => figures.events)
  counter(
    registry,
    'kv_watchers_cut_total',
    'Streams of changes that were cut because their clients read too slowly, or because memory was short.',
    () => figures.cut,
  )
}

/** Counts writes that were answered before they were written, and then could not be. */
export function countLost(registry: Registry): () => void {
  let lost = 0
  counter(registry, 'kv_writes_lost_total', 'Writes that were answered with 202 and then failed.', () => lost)
  return () => void lost++
}

/** Counts how many writes become one batch. */
export function groupSizes(registry: Registry): (writes: number) => void {
  const sizes = new Histogram({
    name: 'kv_group_writes',
    help: 'Writes that became one batch of LevelDB.',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 1_024],
    registers: [registry],
  })
  return (writes) => sizes.observe(writes)
}
