import { closeSync, writeSync } from 'node:fs'

// Longest time that a write waits for a slow reader, whose pipe is full (ms). After that, writes fail without a wait
// until one succeeds again.
const WRITE_TIMEOUT_MS = 500
const RETRY_INTERVAL_MS = 5

// Limits of the output that is held until the table of running services is printed: time (ms) and size (characters).
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

// Indexes of `words`, which the sinks of all threads of a process share.
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

/**
 * Holds the lines for standard output of all threads until `resumeLines`. The hold ends earlier after a minute, when
 * the process exits, and for a sink that holds `MAX_HELD_CHARACTERS`.
 */
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
  const { formatLoss, minWriteLength = 0, flushIntervalMs } = options
  let buffered = ''
  /** Number of lost lines that no line has reported yet. */
  let unreported = 0
  /** True if the last write ended within a line. */
  let isTorn = false
  let isBlocked = false
  let isClosed = false
  let isWaiting = false
  const timer = flushIntervalMs === undefined ? undefined : setInterval(flush, flushIntervalMs).unref()
  if (minWriteLength > 0) process.once('exit', writeAll)

  /** Writes bytes until an error that a retry does not solve. Returns the number of written bytes. */
  function writeBytes(bytes: Buffer): number {
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
    if (minWriteLength === 0) process.once('exit', writeAll)
    const { value } = Atomics.waitAsync(words, HOLD_WORD, 1, HOLD_TIMEOUT_MS)
    void Promise.resolve(value).then(() => {
      isWaiting = false
      resumeLines()
      if (minWriteLength === 0) process.off('exit', writeAll)
      writeAll()
    })
  }

  function writeAll(): void {
    if (buffered === '') return
    const text = buffered
    buffered = ''
    const first = (isTorn ? '\n' : '') + (unreported > 0 ? `${formatLoss(unreported)}\n` : '')
    const head = Buffer.from(first)
    const bytes = Buffer.from(first + text)
    const written = writeBytes(bytes)
    if (written >= head.length) unreported = 0
    if (written > 0) isTorn = bytes[written - 1] !== 0x0a
    if (written === bytes.length) return
    const lost = countLines(bytes.toString('utf8', Math.max(written, head.length)))
    unreported += lost
    Atomics.add(words, LOST_WORD, lost)
  }

  return {
    write(text) {
      buffered += text
      if (buffered.length >= minWriteLength) flush()
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
