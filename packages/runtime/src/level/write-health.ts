import { errors } from '../http/errors.ts'
import type { Problem } from '../http/problems.ts'

/** What one more thread of a process is given to take part in its main's LevelDB. */
export interface LevelShare {
  readonly memory: SharedArrayBuffer
  /** Its place in that memory. */
  readonly slot: number
}

const WELL = 0
const DISK_FULL = 1
const FAILED = 2

// Words of the memory. Each slot has, behind those of all: whether it has the database open, the number of the last write
// that it began, and the number up to which all of its writes are done.
const FAULT = 0
const REOPENING = 1
const USED_SLOTS = 2
const DAMAGED_FILES = 3
const DAMAGED_READS = 4
const LOST_CHANGES = 5
const DISK_LOW = 6
const FIRST_SLOT = 7
const OPEN = 0
const BEGUN = 1
const DONE = 2
const WORDS_A_SLOT = 3
// Threads that end and those that take their place: 64 threads at most.
const SLOTS = 160

// What LevelDB says of ENOSPC, EDQUOT and EFBIG.
const NO_ROOM = /No space left|quota exceeded|File too large/i
const RETRY = { headers: { 'retry-after': '1' } }

export const healthMemory = () =>
  new SharedArrayBuffer((FIRST_SLOT + SLOTS * WORDS_A_SLOT) * Int32Array.BYTES_PER_ELEMENT)

const problemOf = (kind: number): Problem =>
  kind === DISK_FULL ? errors.DISK_FULL(undefined, RETRY) : errors.STORE_FAILED(undefined, RETRY)

const word = (slot: number, which: number) => FIRST_SLOT + slot * WORDS_A_SLOT + which

/** Why the database takes no writes at present, on any thread; nothing if it does. */
export function faultIn(memory: SharedArrayBuffer): Problem | undefined {
  const kind = Atomics.load(new Int32Array(memory), FAULT)
  return kind === WELL ? undefined : problemOf(kind)
}

/** Why a write that adds bytes is refused at present, on any thread; nothing if it is taken. */
function refusalIn(words: Int32Array): Problem | undefined {
  const kind = Atomics.load(words, FAULT)
  if (kind !== WELL) return problemOf(kind)
  return Atomics.load(words, DISK_LOW) === 0 ? undefined : problemOf(DISK_FULL)
}

/** State of the data that all threads of a process read and report. */
export interface DataHealth {
  /** Why the service is not ready: its data take no changes, or are damaged. */
  fault(): Problem | undefined
  /** A read found damage. */
  readFailed(): void
  /** Files that are known to be damaged; reads that found damage count as one. */
  damagedFiles(): number
  /** Changes that were not durable, and that a power cut before the last start took. */
  lostChanges(): number
}

/** The health of the data that this memory belongs to. */
export function dataHealth(memory: SharedArrayBuffer): DataHealth {
  const words = new Int32Array(memory)
  const damagedFiles = () => Atomics.load(words, DAMAGED_FILES) || Math.min(1, Atomics.load(words, DAMAGED_READS))
  return {
    fault: () => refusalIn(words) ?? (damagedFiles() > 0 ? errors.DATA_DAMAGED() : undefined),
    readFailed: () => Atomics.store(words, DAMAGED_READS, 1),
    damagedFiles,
    lostChanges: () => Atomics.load(words, LOST_CHANGES),
  }
}

/**
 * Which writes of a process's threads are known to be good. After a failed append LevelDB's log may end in half a
 * record, and what is written behind it is not found again at the next start, though LevelDB reports no error. So from a
 * failed write on none is begun, and one that was done meanwhile counts only when no other one is in doubt.
 */
export class WriteHealth {
  readonly #words: Int32Array
  readonly #slot: number
  readonly #writing = new Set<number>()
  #begun = 0

  constructor({ memory, slot }: LevelShare) {
    this.#words = new Int32Array(memory)
    this.#slot = slot
    this.#begun = Atomics.load(this.#words, word(slot, BEGUN))
  }

  /** Counts in whoever is to have this slot. Main's alone. */
  expect(slot: number): void {
    if (slot >= this.#used()) Atomics.store(this.#words, USED_SLOTS, slot + 1)
  }

  fault(): Problem | undefined {
    const kind = Atomics.load(this.#words, FAULT)
    return kind === WELL ? undefined : problemOf(kind)
  }

  /** Why a write that adds bytes is refused at present; removals are while there is a `fault` alone. */
  refusal(): Problem | undefined {
    return refusalIn(this.#words)
  }

  /** True if free space is low, so that only removals are accepted. */
  get isDiskLow(): boolean {
    return Atomics.load(this.#words, DISK_LOW) !== 0
  }

  /** Main's alone. */
  set isDiskLow(isLow: boolean) {
    Atomics.store(this.#words, DISK_LOW, isLow ? 1 : 0)
  }

  /** Changes with every write that any thread begins. */
  get writes(): number {
    return this.#sum((slot) => this.#begunIn(slot))
  }

  /** Announces a write. @throws Problem `DISK_FULL`, `STORE_FAILED` */
  begin(): number {
    const number = (this.#begun = (this.#begun + 1) | 0)
    this.#writing.add(number)
    Atomics.store(this.#words, word(this.#slot, BEGUN), number)
    // Only now: who reopens the database sees either this write or that it was not begun.
    const fault = this.fault()
    if (!fault) return number
    this.end(number)
    throw fault
  }

  end(number: number): void {
    this.#writing.delete(number)
    const [oldest] = this.#writing
    this.#set(word(this.#slot, DONE), oldest === undefined ? this.#begun : (oldest - 1) | 0)
  }

  /** A write has failed: call it before `end`. Gives the problem to answer with, and whether it is the first. */
  fail(error: unknown): { problem: Problem; first: boolean } {
    const { message, cause } = error as Error & { cause?: Error }
    const kind = NO_ROOM.test(`${message} ${cause?.message}`) ? DISK_FULL : FAILED
    const first = Atomics.compareExchange(this.#words, FAULT, WELL, kind) === WELL
    if (first) Atomics.notify(this.#words, FAULT)
    return { problem: problemOf(kind), first }
  }

  /** Resolves once every write that any thread has begun by now is done; nothing if all are. */
  settled(): Promise<void> | undefined {
    for (let slot = 0; slot < this.#used(); slot++) {
      if (this.#doneIn(slot) !== this.#begunIn(slot)) return this.#waitForAll()
    }
    return undefined
  }

  /** Resolves once a write has failed. */
  async failed(): Promise<void> {
    await this.#whileIs(FAULT, WELL)
  }

  /** Sets the number of damaged files. Main thread only. */
  setDamagedFiles(count: number): void {
    Atomics.store(this.#words, DAMAGED_FILES, count)
  }

  /** Sets the number of changes that a power cut lost. Main thread only. */
  setLostChanges(count: number): void {
    Atomics.store(this.#words, LOST_CHANGES, count)
  }

  /** Another number once any thread has begun or ended a write. */
  progress(): number {
    return this.#sum((slot) => this.#begunIn(slot) + this.#doneIn(slot))
  }

  /** The database is known good: writes are taken again. */
  recovered(): void {
    this.#set(FAULT, WELL)
  }

  /** Waits until the database may be opened on this thread, and says that it is. */
  async enter(): Promise<void> {
    for (;;) {
      Atomics.store(this.#words, word(this.#slot, OPEN), 1)
      // Only now: main sees either this thread or none that has it open.
      if (Atomics.load(this.#words, REOPENING) === 0) return
      this.leave()
      await this.#whileIs(REOPENING, 1)
    }
  }

  /** The database is closed on this thread. */
  leave(): void {
    this.#set(word(this.#slot, OPEN), 0)
  }

  /** Resolves once main asks all threads to close the database. */
  async asked(): Promise<void> {
    await this.#whileIs(REOPENING, 0)
  }

  /** Asks all other threads to close it; resolves when they have. */
  async askAll(): Promise<void> {
    this.#set(REOPENING, 1)
    for (let slot = 0; slot < this.#used(); slot++) {
      if (slot !== this.#slot) await this.#whileIs(word(slot, OPEN), 1)
    }
  }

  /** Lets all threads open it. */
  letAll(): void {
    this.#set(REOPENING, 0)
  }

  /** Counts off a thread that is gone: nobody waits for it any more. */
  forget(slot: number): void {
    this.#set(word(slot, DONE), this.#begunIn(slot))
    this.#set(word(slot, OPEN), 0)
  }

  /** Whether a thread that is gone left a write of which nobody heard how it ended. */
  leftInDoubt(slot: number): boolean {
    return this.#doneIn(slot) !== this.#begunIn(slot)
  }

  async #waitForAll(): Promise<void> {
    for (let slot = 0; slot < this.#used(); slot++) {
      const begun = this.#begunIn(slot)
      for (let done = this.#doneIn(slot); ((begun - done) | 0) > 0; done = this.#doneIn(slot)) {
        await this.#whileIs(word(slot, DONE), done)
      }
    }
  }

  /** Resolves once a word has another value. Never `Atomics.wait`: the event loop goes on. */
  async #whileIs(index: number, value: number): Promise<void> {
    while (Atomics.load(this.#words, index) === value) await Atomics.waitAsync(this.#words, index, value).value
  }

  #sum(count: (slot: number) => number): number {
    let sum = 0
    for (let slot = 0; slot < this.#used(); slot++) sum = (sum + count(slot)) | 0
    return sum
  }

  #used(): number {
    return Atomics.load(this.#words, USED_SLOTS)
  }

  #begunIn(slot: number): number {
    return Atomics.load(this.#words, word(slot, BEGUN))
  }

  #doneIn(slot: number): number {
    return Atomics.load(this.#words, word(slot, DONE))
  }

  #set(index: number, value: number): void {
    Atomics.store(this.#words, index, value)
    Atomics.notify(this.#words, index)
  }
}
