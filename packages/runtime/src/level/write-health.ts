import { commonErrors } from '../errors/common-errors.ts'
import type { Problem } from '../errors/problems.ts'
import { createWriteProblem, DISK_FULL_STATE, HEALTHY_STATE, toFaultState } from './write-problem.ts'

/** Access of another thread to the database that the main thread manages. */
export interface LevelShare {
  readonly memory: SharedArrayBuffer
  /** Index of the thread's slot in that memory. */
  readonly slot: number
}

const DISK_LOW_BIT = 1
const STOPPED_BIT = 2

// Indexes of the words of the memory: common words, then three words for each slot. The first word of a slot is 1 while
// the thread has the database open. The second is the number of the last write that the thread began. The third is the
// number up to which all of its writes are done.
const FAULT_WORD = 0
const REOPENING_WORD = 1
const USED_SLOTS_WORD = 2
const DAMAGED_FILES_WORD = 3
const DAMAGED_READS_WORD = 4
const LOST_CHANGES_WORD = 5
/** Bits: `DISK_LOW_BIT`, `STOPPED_BIT`. */
const RESTRICTION_WORD = 6
const FIRST_SLOT_WORD = 7
const OPEN_OFFSET = 0
const BEGUN_OFFSET = 1
const DONE_OFFSET = 2
const WORDS_PER_SLOT = 3
// Slots for at most 64 threads, and for threads that end while their replacements start.
const SLOT_COUNT = 160

export const createHealthMemory = () =>
  new SharedArrayBuffer((FIRST_SLOT_WORD + SLOT_COUNT * WORDS_PER_SLOT) * Int32Array.BYTES_PER_ELEMENT)

const getWordIndex = (slot: number, offset: number) => FIRST_SLOT_WORD + slot * WORDS_PER_SLOT + offset

/**
 * Returns the reason why a write that adds bytes is refused at present, on any thread. Undefined if it is accepted.
 */
function getWriteRefusal(words: Int32Array): Problem | undefined {
  const fault = getFault(words)
  if (fault || Atomics.load(words, RESTRICTION_WORD) === 0) return fault
  return hasBit(words, STOPPED_BIT) ? commonErrors.WRITES_STOPPED() : createWriteProblem(DISK_FULL_STATE)
}

/** Returns the reason why the service is not ready. Stopped writes are none: the operator requested them. */
const getReadinessFault = (words: Int32Array): Problem | undefined =>
  getFault(words) ?? (hasBit(words, DISK_LOW_BIT) ? createWriteProblem(DISK_FULL_STATE) : undefined)

function getFault(words: Int32Array): Problem | undefined {
  const kind = Atomics.load(words, FAULT_WORD)
  return kind === HEALTHY_STATE ? undefined : createWriteProblem(kind)
}

const hasBit = (words: Int32Array, bit: number): boolean => (Atomics.load(words, RESTRICTION_WORD) & bit) !== 0

const setBit = (words: Int32Array, bit: number, isSet: boolean) =>
  isSet ? Atomics.or(words, RESTRICTION_WORD, bit) : Atomics.and(words, RESTRICTION_WORD, ~bit)

/** State of the data. All threads of a process can read it, and report damage. */
export interface DataHealth {
  /**
   * Returns the reason why the service is not ready: its data is damaged, or not all writes are accepted. Undefined if
   * it is ready.
   */
  getFault(): Problem | undefined
  /** Call this if a read found damage. */
  reportReadFailure(): void
  /** Number of files that are known to be damaged. If none is known but a read found damage, the number is 1. */
  countDamagedFiles(): number
  /** Number of changes that a power cut before the last start lost. They were not durable. */
  countLostChanges(): number
}

/** Creates access to the state of the data. @param memory see `SharedLevel.memory` */
export function createDataHealth(memory: SharedArrayBuffer): DataHealth {
  const words = new Int32Array(memory)
  const damagedFiles = () =>
    Atomics.load(words, DAMAGED_FILES_WORD) || Math.min(1, Atomics.load(words, DAMAGED_READS_WORD))
  return {
    getFault: () => getReadinessFault(words) ?? (damagedFiles() > 0 ? commonErrors.DATA_DAMAGED() : undefined),
    reportReadFailure: () => Atomics.store(words, DAMAGED_READS_WORD, 1),
    countDamagedFiles: damagedFiles,
    countLostChanges: () => Atomics.load(words, LOST_CHANGES_WORD),
  }
}

/**
 * Tracks which writes of all threads are known to be good. After a failed append, LevelDB's log may contain a part of a
 * record. The next start does not find the records after that part, and LevelDB reports no error. So no other write
 * begins after a failed write. A write that completed meanwhile is acknowledged only after all writes that had begun
 * are done, and if none of them failed.
 */
export class WriteHealth {
  readonly #words: Int32Array
  readonly #slot: number
  readonly #writing = new Set<number>()
  #begun = 0

  constructor({ memory, slot }: LevelShare) {
    this.#words = new Int32Array(memory)
    this.#slot = slot
    this.#begun = Atomics.load(this.#words, getWordIndex(slot, BEGUN_OFFSET))
  }

  /** Includes a slot in all checks. Call this before its thread starts. Main thread only. */
  addSlot(slot: number): void {
    if (slot >= this.#getUsedSlots()) Atomics.store(this.#words, USED_SLOTS_WORD, slot + 1)
  }

  getFault(): Problem | undefined {
    return getFault(this.#words)
  }

  /**
   * Returns the reason why a write that adds bytes is refused at present. Removals are refused only because of a fault.
   */
  getRefusal(): Problem | undefined {
    return getWriteRefusal(this.#words)
  }

  /** True if free space is low, so that only removals are accepted. */
  get isDiskLow(): boolean {
    return hasBit(this.#words, DISK_LOW_BIT)
  }

  /** Main thread only. */
  set isDiskLow(isLow: boolean) {
    setBit(this.#words, DISK_LOW_BIT, isLow)
  }

  /** True if the operator has stopped all writes. */
  get isStopped(): boolean {
    return hasBit(this.#words, STOPPED_BIT)
  }

  set isStopped(isStopped: boolean) {
    setBit(this.#words, STOPPED_BIT, isStopped)
  }

  /** A number that changes with every write that any thread begins. */
  get writes(): number {
    return this.#sum((slot) => this.#getBegun(slot))
  }

  /** Announces a write, and returns its number for `end`. @throws Problem `DISK_FULL`, `STORE_FAILED` */
  begin(): number {
    const number = (this.#begun = (this.#begun + 1) | 0)
    this.#writing.add(number)
    Atomics.store(this.#words, getWordIndex(this.#slot, BEGUN_OFFSET), number)
    // The check follows the announcement, so that a thread that reopens the database sees this write, or this write
    // sees the fault.
    const fault = this.getFault()
    if (!fault) return number
    this.end(number)
    throw fault
  }

  /** Records that a write has ended, with or without success. */
  end(number: number): void {
    this.#writing.delete(number)
    const [oldest] = this.#writing
    this.#set(getWordIndex(this.#slot, DONE_OFFSET), oldest === undefined ? this.#begun : (oldest - 1) | 0)
  }

  /**
   * Records a failed write. Call it before `end`. Returns the problem for the reply, and whether it is the first
   * failure.
   */
  markFailed(error: unknown): { problem: Problem; first: boolean } {
    const kind = toFaultState(error)
    const first = Atomics.compareExchange(this.#words, FAULT_WORD, HEALTHY_STATE, kind) === HEALTHY_STATE
    if (first) Atomics.notify(this.#words, FAULT_WORD)
    return { problem: createWriteProblem(kind), first }
  }

  /** Resolves when every write that any thread has begun by now is done. Undefined if all are done already. */
  waitForWrites(): Promise<void> | undefined {
    for (let slot = 0; slot < this.#getUsedSlots(); slot++) {
      if (this.#getDone(slot) !== this.#getBegun(slot)) return this.#waitForAll()
    }
    return undefined
  }

  /** Resolves when a write has failed. */
  async waitForFailure(): Promise<void> {
    await this.#waitWhile(FAULT_WORD, HEALTHY_STATE)
  }

  /** Sets the number of damaged files. Main thread only. */
  setDamagedFiles(count: number): void {
    Atomics.store(this.#words, DAMAGED_FILES_WORD, count)
  }

  /** Sets the number of changes that a power cut lost. Main thread only. */
  setLostChanges(count: number): void {
    Atomics.store(this.#words, LOST_CHANGES_WORD, count)
  }

  /** Returns a number that changes when any thread begins a write, or completes its oldest one. */
  getProgress(): number {
    return this.#sum((slot) => this.#getBegun(slot) + this.#getDone(slot))
  }

  /** Records that the database is known to be good: writes are accepted again. */
  markRecovered(): void {
    this.#set(FAULT_WORD, HEALTHY_STATE)
  }

  /** Waits until this thread may open the database, and records that it has it open. */
  async acquire(): Promise<void> {
    for (;;) {
      Atomics.store(this.#words, getWordIndex(this.#slot, OPEN_OFFSET), 1)
      // The check follows the record, so that main sees that this thread has the database open, or this thread sees the
      // reopening.
      if (Atomics.load(this.#words, REOPENING_WORD) === 0) return
      this.release()
      await this.#waitWhile(REOPENING_WORD, 1)
    }
  }

  /** Records that this thread has closed the database. */
  release(): void {
    this.#set(getWordIndex(this.#slot, OPEN_OFFSET), 0)
  }

  /** Resolves when the main thread requests all threads to close the database. */
  async waitForCloseRequest(): Promise<void> {
    await this.#waitWhile(REOPENING_WORD, 0)
  }

  /** Requests all other threads to close the database. Resolves when all have closed it. */
  async requestClose(): Promise<void> {
    this.#set(REOPENING_WORD, 1)
    for (let slot = 0; slot < this.#getUsedSlots(); slot++) {
      if (slot !== this.#slot) await this.#waitWhile(getWordIndex(slot, OPEN_OFFSET), 1)
    }
  }

  /** Lets all threads open the database. */
  allowOpen(): void {
    this.#set(REOPENING_WORD, 0)
  }

  /** Removes a thread that has ended, so that no thread waits for it any more. */
  removeSlot(slot: number): void {
    this.#set(getWordIndex(slot, DONE_OFFSET), this.#getBegun(slot))
    this.#set(getWordIndex(slot, OPEN_OFFSET), 0)
  }

  /** True if a thread that has ended left a write with an unknown outcome. */
  isInDoubt(slot: number): boolean {
    return this.#getDone(slot) !== this.#getBegun(slot)
  }

  async #waitForAll(): Promise<void> {
    for (let slot = 0; slot < this.#getUsedSlots(); slot++) {
      const begun = this.#getBegun(slot)
      for (let done = this.#getDone(slot); ((begun - done) | 0) > 0; done = this.#getDone(slot)) {
        await this.#waitWhile(getWordIndex(slot, DONE_OFFSET), done)
      }
    }
  }

  /** Resolves when a word has another value. Unlike `Atomics.wait`, it does not block the event loop. */
  async #waitWhile(index: number, value: number): Promise<void> {
    while (Atomics.load(this.#words, index) === value) await Atomics.waitAsync(this.#words, index, value).value
  }

  #sum(count: (slot: number) => number): number {
    let sum = 0
    for (let slot = 0; slot < this.#getUsedSlots(); slot++) sum = (sum + count(slot)) | 0
    return sum
  }

  #getUsedSlots(): number {
    return Atomics.load(this.#words, USED_SLOTS_WORD)
  }

  #getBegun(slot: number): number {
    return Atomics.load(this.#words, getWordIndex(slot, BEGUN_OFFSET))
  }

  #getDone(slot: number): number {
    return Atomics.load(this.#words, getWordIndex(slot, DONE_OFFSET))
  }

  #set(index: number, value: number): void {
    Atomics.store(this.#words, index, value)
    Atomics.notify(this.#words, index)
  }
}
