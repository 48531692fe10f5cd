import { getHeapStatistics } from 'node:v8'
import type { ServiceConfig } from '../settings/settings.ts'

const BYTES_PER_MB = 1_048_576
/** Main thread and supervisor, with the caches of LevelDB (MB). */
const MAIN_MB = 192
/** Old space of a serving thread with hundreds of connections, its code and its stack (MB). */
const THREAD_MB = 48
/** A young generation has three semi-spaces. */
const SEMI_SPACES = 3
/** The share of the memory for the old space of main, and that for the old spaces of all threads together. */
const HEAP_SHARE = 0.4
/** Less old space than this ends a thread that only serves (MB). */
const MIN_THREAD_HEAP_MB = 64

type MemorySettings = Pick<ServiceConfig, 'maxSemiSpaceSize' | 'clientMemoryLimit' | 'services'>

/** The memory of one service: services that start together share the memory of their container. */
const toShareMb = (memory: number, { services = 1 }: Pick<MemorySettings, 'services'>) =>
  memory / services / BYTES_PER_MB

/** Memory of one serving thread (MB). */
const toThreadMb = ({ maxSemiSpaceSize }: Pick<MemorySettings, 'maxSemiSpaceSize'>) =>
  THREAD_MB + SEMI_SPACES * maxSemiSpaceSize

/**
 * Computes how many serving threads fit into a container, at least 1.
 * @param memory limit of the container (bytes)
 */
export function countFittingThreads(memory: number, settings: MemorySettings): number {
  const shareMb = toShareMb(memory, settings)
  // `--client-memory-limit` is an upper bound, which few clients reach.
  const clientMb = Math.min(settings.clientMemoryLimit / BYTES_PER_MB, shareMb / 4)
  return Math.max(1, Math.floor((shareMb - MAIN_MB - clientMb) / toThreadMb(settings)))
}

/** Limits of V8's old space (MB). Undefined: V8's own limit is lower, or there is no limit of the container. */
export interface HeapLimits {
  readonly main: number | undefined
  readonly thread: number | undefined
}

/**
 * Computes heap limits that keep the process within its container: a thread over its limit is replaced, while the
 * system would kill the whole container.
 * @param memory limit of the container (bytes)
 * @param threads number of serving threads
 * @param defaultMb V8's own limit (MB)
 */
export function computeHeapLimits(
  memory: number,
  settings: Pick<MemorySettings, 'services'>,
  threads: number,
  defaultMb = getHeapStatistics().heap_size_limit / BYTES_PER_MB,
): HeapLimits {
  const heapMb = HEAP_SHARE * toShareMb(memory, settings)
  const toLimit = (mb: number) => (mb < defaultMb ? Math.floor(mb) : undefined)
  return {
    main: toLimit(threads === 0 ? 2 * heapMb : heapMb),
    thread: threads === 0 ? undefined : toLimit(Math.max(MIN_THREAD_HEAP_MB, heapMb / threads)),
  }
}
