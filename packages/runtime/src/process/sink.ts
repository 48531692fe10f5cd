import { closeSync, writeSync } from 'node:fs'

// How long a reader that is behind is waited for (ms): a pipe is full then. Not again before it has taken something.
const PATIENCE = 500
const STEP = 5

const neverWoken = new Int32Array(new SharedArrayBuffer(4))

export interface SinkOptions {
  /** The line that tells how many could not be written before it; without its end. */
  tell(lost: number): string
  /** Gather so many bytes before they are written. */
  readonly gather?: number
  /** And for no longer than this (ms). */
  readonly within?: number
}

/** Takes whole lines for a file descriptor, and never fails. */
export interface Sink {
  write(text: string): void
  /** Writes what is gathered. */
  flush(): void
  /** Flushes; closes the descriptor unless it is standard output or error. Idempotent. */
  close(): void
}

let count = new Int32Array(new SharedArrayBuffer(4))

/** Lines that could not be written: of this thread, and of those that count with it. */
export const lostLines = (): number => Atomics.load(count, 0)

/** What lost lines are counted in, for other threads to count in, too. */
export const lostCount = (): Int32Array => count

/** From now on this thread counts its lost lines there. */
export function countLostIn(shared: Int32Array): void {
  count = shared as typeof count
}

const linesIn = (text: string): number => text.split('\n').length - 1

/**
 * A descriptor for lines whose faults are nobody else's: a full disk (ENOSPC), a pipe that nobody reads (EPIPE) or that
 * is full (EAGAIN). What cannot be written is counted and left out, and the next line that can be written says so.
 * Synchronous: an asynchronous one loses its last lines (999 of 1,000) when a thread exits.
 */
export function createSink(fd: number, options: SinkOptions): Sink {
  const { tell, gather = 0, within } = options
  let gathered = ''
  let untold = 0
  /** Some of a line has been written, and not its end. */
  let isTorn = false
  let isBehind = false
  let isClosed = false
  const timer = within === undefined ? undefined : setInterval(flush, within).unref()
  if (gather > 0) process.once('exit', flush)

  /** Returns how many of the bytes were written. */
  function put(bytes: Buffer): number {
    const deadline = performance.now() + (isBehind ? 0 : PATIENCE)
    let written = 0
    while (written < bytes.length) {
      try {
        written += writeSync(fd, bytes, written)
        isBehind = false
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        if (code === 'EINTR') continue
        if (code !== 'EAGAIN' || performance.now() > deadline) break
        Atomics.wait(neverWoken, 0, 0, STEP)
        if (performance.now() > deadline) isBehind = true
      }
    }
    return written
  }

  function flush(): void {
    if (gathered === '') return
    const text = gathered
    gathered = ''
    const first = (isTorn ? '\n' : '') + (untold > 0 ? `${tell(untold)}\n` : '')
    const head = Buffer.from(first)
    const bytes = Buffer.from(first + text)
    const written = put(bytes)
    if (written >= head.length) untold = 0
    if (written > 0) isTorn = bytes[written - 1] !== 0x0a
    if (written === bytes.length) return
    const left = linesIn(bytes.toString('utf8', Math.max(written, head.length)))
    untold += left
    Atomics.add(count, 0, left)
  }

  return {
    write(text) {
      gathered += text
      if (gathered.length >= gather) flush()
    },
    flush,
    close() {
      if (isClosed) return
      isClosed = true
      clearInterval(timer)
      process.off('exit', flush)
      flush()
      if (fd > 2) closeSync(fd)
    },
  }
}
