import { closeSync, writeSync } from 'node:fs'

// Time that a write waits for a slow reader, whose pipe is full (ms). Later writes do not wait until the reader has
// read something.
const WRITE_TIMEOUT_MS = 500
const RETRY_INTERVAL_MS = 5

// Limits of the output that waits for the table of a start: its time (ms) and its size (characters).
const HOLD_TIMEOUT_MS = 60_000
const MAX_HELD_CHARACTERS = 65_536

const neverWoken = new Int32Array(new SharedArrayBuffer(4))

export interface LineSinkOptions {
  /** Formats the line that reports the number of lines lost before it, without its line end. */
  formatLoss(lost: number): string
  /** Text to collect before a write (characters). */
  readonly minWriteLength?: number
  /** Longest time for which text is collected (ms). */
  readonly flushIntervalMs?: number
}

/** Writes whole lines to a file descriptor. Never fails. */
export interface LineSink {
  write(text: string): void
  /** Writes the collected text. */
  flush(): void
  /** Flushes; closes the descriptor unless it is standard output or error. Idempotent. */
  close(): void
}

// Words of the memory that the sinks of all threads of a process share.
const LOST_WORD = 0
const HOLD_WORD = 1

let words = new Int32Array(new SharedArrayBuffer(8))

/** Returns the number of lines that could not be written, by this thread and by those that share its words. */
export const getLostLines = (): number => Atomics.load(words, LOST_WORD)

/** Returns the words that the sinks of this thread share with other threads. */
export const getSinkWords = (): Int32Array => words

/** Makes the sinks of this thread use the words of another thread. */
export function shareSinkWords(shared: Int32Array): void {
  words = shared as typeof words
}

/** Holds the lines of all threads for standard output until `resumeLines`, until the process ends, or for a minute. */
export const pauseLines = (): void => void Atomics.store(words, HOLD_WORD, 1)

export function resumeLines(): void {
  Atomics.store(words, HOLD_WORD, 0)
  Atomics.notify(words, HOLD_WORD)
}

const countLines = (text: string): number => text.split('\n').length - 1

/**
 * Opens a sink for lines whose write errors affect no other code: a full disk (ENOSPC), a pipe without a reader (EPIPE)
 * or a full pipe (EAGAIN). Lines that cannot be written are counted and dropped. The next line that can be written
 * follows a report of their number. Synchronous, because an asynchronous sink loses its last lines (999 of 1,000) when
 * a thread exits.
 */
export function openLineSink(fd: number, options: LineSinkOptions): LineSink {
  const { formatLoss: tell, minWriteLength: gather = 0, flushIntervalMs: within } = options
  let buffered = ''
  let unreported = 0
  /** True if the last write ended within a line. */
  let isTorn = false
  let isBlocked = false
  let isClosed = false
  let isWaiting = false
  const timer = within === undefined ? undefined : setInterval(flush, within).unref()
  if (gather > 0) process.once('exit', writeAll)

  /** Returns the number of bytes that were written. */
  function put(bytes: Buffer): number {
    const deadline = performance.now() + (isBlocked ? 0 : WRITE_TIMEOUT_MS)
    let written = 0
    while (written < bytes.length) {
      try {
        written += writeSync(fd, bytes, written)
        isBlocked = false
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        if (code === 'EINTR') continue
        if (code !== 'EAGAIN' || performance.now() > deadline) break
        Atomics.wait(neverWoken, 0, 0, RETRY_INTERVAL_MS)
        if (performance.now() > deadline) isBlocked = true
      }
    }
    return written
  }

  function flush(): void {
    if (fd === 1 && buffered.length < MAX_HELD_CHARACTERS && Atomics.load(words, HOLD_WORD) === 1) waitForRelease()
    else writeAll()
  }

  function waitForRelease(): void {
    if (isWaiting) return
    isWaiting = true
    if (gather === 0) process.once('exit', writeAll)
    const { value } = Atomics.waitAsync(words, HOLD_WORD, 1, HOLD_TIMEOUT_MS)
    void Promise.resolve(value).then(() => {
      isWaiting = false
      resumeLines()
      if (gather === 0) process.off('exit', writeAll)
      writeAll()
    })
  }

  function writeAll(): void {
    if (buffered === '') return
    const text = buffered
    buffered = ''
    const first = (isTorn ? '\n' : '') + (unreported > 0 ? `${tell(unreported)}\n` : '')
    const head = Buffer.from(first)
    const bytes = Buffer.from(first + text)
    const written = put(bytes)
    if (written >= head.length) unreported = 0
    if (written > 0) isTorn = bytes[written - 1] !== 0x0a
    if (written === bytes.length) return
    const left = countLines(bytes.toString('utf8', Math.max(written, head.length)))
    unreported += left
    Atomics.add(words, LOST_WORD, left)
  }

  return {
    write(text) {
      buffered += text
      if (buffered.length >= gather) flush()
    },
    flush,
    close() {
      if (isClosed) return
      isClosed = true
      clearInterval(timer)
      process.off('exit', writeAll)
      writeAll()
      if (fd > 2) closeSync(fd)
    },
  }
}
