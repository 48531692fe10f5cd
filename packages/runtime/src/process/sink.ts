import { closeSync, writeSync } from 'node:fs'

// How long a reader that is behind is waited for (ms): a pipe is full then. Not again before it has taken something.
const PATIENCE = 500
const STEP = 5

// What is held back for the table of a start is held for so long (ms), and so many characters of it.
const HELD_FOR = 60_000
const MOST_HELD = 65_536

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

// Words of what the sinks of all threads of a process share.
const LOST = 0
const HELD = 1

let words = new Int32Array(new SharedArrayBuffer(8))

/** Lines that could not be written: of this thread, and of those that share its words. */
export const lostLines = (): number => Atomics.load(words, LOST)

/** What the sinks of this thread share with those of others. */
export const sinkWords = (): Int32Array => words

/** From now on the sinks of this thread share those of another. */
export function shareSinkWords(shared: Int32Array): void {
  words = shared as typeof words
}

/** From now on no thread writes lines to standard output: until `releaseLines`, the process's end, or for a minute. */
export const holdLines = (): void => void Atomics.store(words, HELD, 1)

export function releaseLines(): void {
  Atomics.store(words, HELD, 0)
  Atomics.notify(words, HELD)
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
  let isWaiting = false
  const timer = within === undefined ? undefined : setInterval(flush, within).unref()
  if (gather > 0) process.once('exit', writeAll)

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
    if (fd === 1 && gathered.length < MOST_HELD && Atomics.load(words, HELD) === 1) waitForRelease()
    else writeAll()
  }

  function waitForRelease(): void {
    if (isWaiting) return
    isWaiting = true
    if (gather === 0) process.once('exit', writeAll)
    const { value } = Atomics.waitAsync(words, HELD, 1, HELD_FOR)
    void Promise.resolve(value).then(() => {
      isWaiting = false
      releaseLines()
      if (gather === 0) process.off('exit', writeAll)
      writeAll()
    })
  }

  function writeAll(): void {
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
    Atomics.add(words, LOST, left)
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
      process.off('exit', writeAll)
      writeAll()
      if (fd > 2) closeSync(fd)
    },
  }
}
