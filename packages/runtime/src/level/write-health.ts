import { commonErrors } from '../http/common-errors.ts'
import type { Problem } from '../http/problems.ts'

/** What one more thread of a process is given to take part in its main's LevelDB. */
export interface LevelShare {
  readonly memory: SharedArrayBuffer
  /** Its place in that memory. */
  readonly slot: number
}

const HEALTHY_STATE = 0
const DISK_FULL_STATE = 1
const FAILED_STATE = 2

// Words of the memory. Each slot has, behind those of all: whether it has the database open, the number of the last write
// that it began, and the number up to which all of its writes are done.
const FAULT_WORD = 0
const REOPENING_WORD = 1
const USED_SLOTS_WORD = 2
const DAMAGED_FILES_WORD = 3
const DAMAGED_READS_WORD = 4
const LOST_CHANGES_WORD = 5
const DISK_LOW_WORD = 6
const FIRST_SLOT_WORD = 7
const OPEN_OFFSET = 0
const BEGUN_OFFSET = 1
const DONE_OFFSET = 2
const WORDS_PER_SLOT = 3
// Threads that end and those that take their place: 64 threads at most.
const SLOT_COUNT = 160

// What LevelDB says of ENOSPC, EDQUOT and EFBIG.
const NO_SPACE_MESSAGE = /No space left|quota exceeded|File too large/i
const RETRY_HEADERS = { headers: { 'retry-after': '1' } }

export const createHealthMemory = () =>
  new SharedArrayBuffer((FIRST_SLOT_WORD + SLOT_COUNT * WORDS_PER_SLOT) * Int32Array.BYTES_PER_ELEMENT)

const createWriteProblem = (kind: number): Problem =>
  kind === DISK_FULL_STATE
    ? commonErrors.DISK_FULL(undefined, RETRY_HEADERS)
    : commonErrors.STORE_FAILED(undefined, RETRY_HEADERS)

const getWordIndex = (slot: number, which: number) => FIRST_SLOT_WORD + slot * WORDS_PER_SLOT + which

/** Why the database takes no writes at present, on any thread; nothing if it does. */
export function getWriteFault(memory: SharedArrayBuffer): Problem | undefined {
  const kind = Atomics.load(new Int32Array(memory), FAULT_WORD)
  return kind === HEALTHY_STATE ? undefined : createWriteProblem(kind)
}

/** Why a write that adds bytes is refused at present, on any thread; nothing if it is taken. */
function getWriteRefusal(words: Int32Array): Problem | undefined {
  const kind = Atomics.load(words, FAULT_WORD)
  if (kind !== HEALTHY_STATE) return createWriteProblem(kind)
  return Atomics.load(words, DISK_LOW_WORD) === 0 ? undefined : createWriteProblem(DISK_FULL_STATE)
}

/** State of the data that all threads of a process read and report. */
export interface DataHealth {
  /** Why the service is not ready: its data take no changes, or are damaged. */
  getFault(): Problem | undefined
  /** A read found damage. */
  reportReadFailure(): void
  /** Files that are known to be damaged; reads that found damage count as one. */
  countDamagedFiles(): number
  /** Changes that were not durable, and that a power cut before the last start took. */
  countLostChanges(): number
}

/** The health of the data that this memory belongs to. */
export function createDataHealth(memory: SharedArrayBuffer): DataHealth {
  const words = new Int32Array(memory)
  const damagedFiles = () =>
    Atomics.load(words, DAMAGED_FILES_WORD) || Math.min(1, Atomics.load(words, DAMAGED_READS_WORD))
  return {
    getFault: () => getWriteRefusal(words) ?? (damagedFiles() > 0 ? commonErrors.DATA_DAMAGED() : undefined),
    reportReadFailure: () => Atomics.store(words, DAMAGED_READS_WORD, 1),
    countDamagedFiles: damagedFiles,
    countLostChanges: () => Atomics.load(words, LOST_CHANGES_WORD),
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
    this.#begun = Atomics.load(this.#words, getWordIndex(slot, BEGUN_OFFSET))
  }

  /** Counts in whoever is to have this slot. Main's alone. */
  expect(slot: number): void {
    if (slot >= this.#getUsedSlots()) Atomics.store(this.#words, USED_SLOTS_WORD, slot + 1)
  }

  getFault(): Problem | undefined {
    const kind = Atomics.load(this.#words, FAULT_WORD)
    return kind === HEALTHY_STATE ? undefined : createWriteProblem(kind)
  }

  /** Why a write that adds bytes is refused at present; removals are while there is a `fault` alone. */
  getRefusal(): Problem | undefined {
    return getWriteRefusal(this.#words)
  }

  /** True if free space is low, so that only removals are accepted. */
  get isDiskLow(): boolean {
    return Atomics.load(this.#words, DISK_LOW_WORD) !== 0
  }

  /** Main's alone. */
  set isDiskLow(isLow: boolean) {
    Atomics.store(this.#words, DISK_LOW_WORD, isLow ? 1 : 0)
  }

  /** Changes with every write that any thread begins. */
  get writes(): number {
    return this.#sum((slot) => this.#getBegun(slot))
  }

  /** Announces a write. @throws Problem `DISK_FULL`, `STORE_FAILED` */
  begin(): number {
    const number = (this.#begun = (this.#begun + 1) | 0)
    this.#writing.add(number)
    Atomics.store(this.#words, getWordIndex(this.#slot, BEGUN_OFFSET), number)
    // Only now: who reopens the database sees either this write or that it was not begun.
    const fault = this.getFault()
    if (!fault) return number
    this.end(number)
    throw fault
  }

  end(number: number): void {
    this.#writing.delete(number)
    const [oldest] = this.#writing
    this.#set(getWordIndex(this.#slot, DONE_OFFSET), oldest === undefined ? this.#begun : (oldest - 1) | 0)
  }

  /** A write has failed: call it before `end`. Gives the problem to answer with, and whether it is the first. */
  markFailed(error: unknown): { problem: Problem; first: boolean } {
    const { message, cause } = error as Error & { cause?: Error }
    const kind = NO_SPACE_MESSAGE.test(`${message} ${cause?.message}`) ? DISK_FULL_STATE : FAILED_STATE
    const first = Atomics.compareExchange(this.#words, FAULT_WORD, HEALTHY_STATE, kind) === HEALTHY_STATE
    if (first) Atomics.notify(this.#words, FAULT_WORD)
    return { problem: createWriteProblem(kind), first }
  }

  /** Resolves once every write that any thread has begun by now is done; nothing if all are. */
  waitForWrites(): Promise<void> | undefined {
    for (let slot = 0; slot < this.#getUsedSlots(); slot++) {
      if (this.#getDone(slot) !== this.#getBegun(slot)) return this.#waitForAll()
    }
    return undefined
  }

  /** Resolves once a write has failed. */
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

  /** Another number once any thread has begun or ended a write. */
  getProgress(): number {
    return this.#sum((slot) => this.#getBegun(slot) + this.#getDone(slot))
  }

  /** The database is known good: writes are taken again. */
  markRecovered(): void {
    this.#set(FAULT_WORD, HEALTHY_STATE)
  }

  /** Waits until the database may be opened on this thread, and says that it is. */
  async acquire(): Promise<void> {
    for (;;) {
      Atomics.store(this.#words, getWordIndex(this.#slot, OPEN_OFFSET), 1)
      // Only now: main sees either this thread or none that has it open.
      if (Atomics.load(this.#words, REOPENING_WORD) === 0) return
      this.release()
      await this.#waitWhile(REOPENING_WORD, 1)
    }
  }

  /** The database is closed on this thread. */
  release(): void {
    this.#set(getWordIndex(this.#slot, OPEN_OFFSET), 0)
  }

  /** Resolves once main asks all threads to close the database. */
  async waitForCloseRequest(): Promise<void> {
    await this.#waitWhile(REOPENING_WORD, 0)
  }

  /** Asks all other threads to close it; resolves when they have. */
  async requestClose(): Promise<void> {
    this.#set(REOPENING_WORD, 1)
    for (let slot = 0; slot < this.#getUsedSlots(); slot++) {
      if (slot !== this.#slot) await this.#waitWhile(getWordIndex(slot, OPEN_OFFSET), 1)
    }
  }

  /** Lets all threads open it. */
  allowOpen(): void {
    this.#set(REOPENING_WORD, 0)
  }

  /** Counts off a thread that is gone: nobody waits for it any more. */
  removeSlot(slot: number): void {
    this.#set(getWordIndex(slot, DONE_OFFSET), this.#getBegun(slot))
    this.#set(getWordIndex(slot, OPEN_OFFSET), 0)
  }

  /** Whether a thread that is gone left a write of which nobody heard how it ended. */
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

  /** Resolves once a word has another value. Never `Atomics.wait`: the event loop goes on. */
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
