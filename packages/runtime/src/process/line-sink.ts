import { closeSync, writeSync } from 'node:fs'

// How long a reader that is behind is waited for (ms): a pipe is full then. Not again before it has taken something.
const WRITE_TIMEOUT_MS = 500
const RETRY_INTERVAL_MS = 5

// What is held back for the table of a start is held for so long (ms), and so many characters of it.
const HOLD_TIMEOUT_MS = 60_000
const MAX_HELD_CHARACTERS = 65_536

const neverWoken = new Int32Array(new SharedArrayBuffer(4))

export interface LineSinkOptions {
  /** The line that tells how many could not be written before it; without its end. */
  formatLoss(lost: number): string
  /** Gather so many bytes before they are written. */
  readonly minWriteLength?: number
  /** And for no longer than this (ms). */
  readonly flushIntervalMs?: number
}

/** Takes whole lines for a file descriptor, and never fails. */
export interface LineSink {
  write(text: string): void
  /** Writes what is gathered. */
  flush(): void
  /** Flushes; closes the descriptor unless it is standard output or error. Idempotent. */
  close(): void
}

// Words of what the sinks of all threads of a process share.
const LOST_WORD = 0
const HOLD_WORD = 1

let words = new Int32Array(new SharedArrayBuffer(8))

/** Lines that could not be written: of this thread, and of those that share its words. */
export const getLostLines = (): number => Atomics.load(words, LOST_WORD)

/** What the sinks of this thread share with those of others. */
export const getSinkWords = (): Int32Array => words

/** From now on the sinks of this thread share those of another. */
export function shareSinkWords(shared: Int32Array): void {
  words = shared as typeof words
}

/** From now on no thread writes lines to standard output: until `releaseLines`, the process's end, or for a minute. */
export const pauseLines = (): void => void Atomics.store(words, HOLD_WORD, 1)

export function resumeLines(): void {
  Atomics.store(words, HOLD_WORD, 0)
  Atomics.notify(words, HOLD_WORD)
}

const countLines = (text: string): number => text.split('\n').length - 1

/**
 * A descriptor for lines whose faults are nobody else's: a full disk (ENOSPC), a pipe that nobody reads (EPIPE) or that
 * is full (EAGAIN). What cannot be written is counted and left out, and the next line that can be written says so.
 * Synchronous: an asynchronous one loses its last lines (999 of 1,000) when a thread exits.
 */
export function openLineSink(fd: number, options: LineSinkOptions): LineSink {
  const { formatLoss: tell, minWriteLength: gather = 0, flushIntervalMs: within } = options
  let buffered = ''
  let unreported = 0
  /** Some of a line has been written, and not its end. */
  let isTorn = false
  let isBlocked = false
  let isClosed = false
  let isWaiting = false
  const timer = within === undefined ? undefined : setInterval(flush, within).unref()
  if (gather > 0) process.once('exit', writeAll)

  /** Returns how many of the bytes were written. */
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
