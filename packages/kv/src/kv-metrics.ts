import { registerCounter } from '@influencer-stats/runtime/counter'
import { registerGauge } from '@influencer-stats/runtime/gauge'
import { getLevelSizes } from '@influencer-stats/runtime/level-sizes'
import { Gauge, Histogram, type Registry } from '@influencer-stats/runtime/prom-client'
import type { KvLevel, KvDatabase } from './store/commit.ts'
import type { WriteQueue } from './store/store.ts'
import type { WatchMetrics } from './watch/watchers.ts'

const LEVEL_COUNT = 7
// LevelDB delays each write by 1 ms from 8 files at level 0 on, and stops all writes from 12 on.
const SLOWDOWN_FILES = 8
const STOP_FILES = 12

const countFiles = (db: KvDatabase, level: number) => Number(db.getProperty(`leveldb.num-files-at-level${level}`))

/** Registers the metrics of the database, on the main thread. */
export function registerLevelMetrics(level: KvLevel, cacheMegabytes: number, registry: Registry): void {
  const { db } = level
  function registerPerLevel(name: string, help: string, read: () => readonly number[]): void {
    const gauge: Gauge = new Gauge({
      name,
      help,
      labelNames: ['level'],
      registers: [registry],
      collect() {
        for (const [level, value] of read().entries()) gauge.set({ level }, value)
      },
    })
  }
  registerPerLevel('kv_level_files', 'Table files at each level of LevelDB.', () =>
    Array.from({ length: LEVEL_COUNT }, (_, i) => countFiles(db, i)),
  )
  registerPerLevel('kv_level_bytes', 'Size of the table files at each level of LevelDB, rounded to MiB.', () =>
    getLevelSizes(db),
  )
  registerGauge(registry, 'kv_write_stall', '1 if LevelDB slows writes down, 2 if it stops them, otherwise 0.', () => {
    const fileCount = countFiles(db, 0)
    return fileCount >= STOP_FILES ? 2 : fileCount >= SLOWDOWN_FILES ? 1 : 0
  })
  registerGauge(
    registry,
    'kv_writes_refused',
    '1 if writes are refused because a write failed or free disk space is low.',
    () => (level.getRefusal() ? 1 : 0),
  )
  registerGauge(
    registry,
    'kv_block_cache_bytes',
    'Size of the block cache of LevelDB.',
    () => cacheMegabytes * 1_048_576,
  )
}

/** Registers the metrics of the write queue of a thread. */
export function registerQueueMetrics(queue: WriteQueue, registry: Registry): void {
  registerGauge(registry, 'kv_queue_writes', 'Queued writes.', () => queue.writes)
  registerGauge(registry, 'kv_queue_bytes', 'Bytes of queued writes.', () => queue.bytes)
}

/** Registers the metrics of the watch streams of a thread. */
export function registerWatchMetrics(metrics: WatchMetrics, registry: Registry): void {
  registerGauge(registry, 'kv_watchers', 'Open watch streams.', () => metrics.streams)
  registerGauge(
    registry,
    'kv_watch_unread_bytes',
    'Memory of the changes that clients of watch streams have not read yet.',
    () => metrics.unreadBytes,
  )
  registerCounter(registry, 'kv_watch_events_total', 'Changes sent to watch streams.', () => metrics.events)
  registerCounter(
    registry,
    'kv_watchers_cut_total',
    'Watch streams that were closed because of slow clients, low memory or missing changes.',
    () => metrics.cutStreams,
  )
}

/** Registers the counter of writes that failed after their reply was sent. Returns a function that counts one. */
export function registerLostWrites(registry: Registry): () => void {
  let lost = 0
  registerCounter(registry, 'kv_writes_lost_total', 'Writes that failed after their reply 202.', () => lost)
  return () => void lost++
}

/** Registers the histogram of writes per batch. Returns a function that records a batch. */
export function registerGroupSizes(registry: Registry): (writes: number) => void {
  const sizes = new Histogram({
    name: 'kv_group_writes',
    help: 'Writes in one batch of LevelDB.',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 1_024],
    registers: [registry],
  })
  return (writes) => sizes.observe(writes)
}
