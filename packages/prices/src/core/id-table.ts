import { ID_BYTES } from './answer-block.ts'

const EMPTY_SLOT = 0
const DELETED_SLOT = 0xffff_ffff
const MAX_LOAD_RATIO = 0.7
const GROWTH_RATIO = 1.5
/**
 * Slots of a full table that are moved with each added id. With 8, the move completes before the next table is full,
 * unless about two thirds of the ids were deleted before.
 */
const SLOTS_PER_MOVE = 8

/**
 * Maps ids to rows. It stores rows only (4 bytes each, 6 with free slots); ids are in the answers. A full table moves
 * to a larger one in steps, because half a million ids at once block the event loop for 0.4 s.
 */
export class IdTable {
  /** Returns the id of a row that was added. */
  #getId: (row: number) => Uint8Array
  #slots: Uint32Array
  #used = 0
  #size = 0
  /** The rest of a table that was full: the slots from `#moved` on. */
  #oldSlots: Uint32Array | undefined
  #moved = 0

  /** @param getId returns the id of a row that was added; @param expected expected number of rows */
  constructor(getId: (row: number) => Uint8Array, expected = 1_024) {
    this.#getId = getId
    this.#slots = new Uint32Array(Math.ceil(expected / MAX_LOAD_RATIO) + 8)
  }

  get size(): number {
    return this.#size
  }

  /** Memory of the table (bytes). */
  get bytes(): number {
    return this.#slots.byteLength + (this.#oldSlots?.byteLength ?? 0)
  }

  /** Replaces the function that reads ids. */
  setIdReader(getId: (row: number) => Uint8Array): void {
    this.#getId = getId
  }

  /** Returns the row of an id, or -1. */
  find(id: Uint8Array): number {
    const slot = this.#findSlot(this.#slots, id)
    if (slot >= 0) return this.#slots[slot]! - 1
    const oldSlot = this.#oldSlots ? this.#findSlot(this.#oldSlots, id) : -1
    return oldSlot < 0 ? -1 : this.#oldSlots![oldSlot]! - 1
  }

  /** Adds a row with a new id. */
  add(row: number, id: Uint8Array): void {
    this.#move(SLOTS_PER_MOVE)
    if (this.#used >= this.#slots.length * MAX_LOAD_RATIO) this.#grow()
    this.#put(row, id)
    this.#size++
  }

  delete(id: Uint8Array): void {
    for (const slots of [this.#slots, this.#oldSlots]) {
      const slot = slots ? this.#findSlot(slots, id) : -1
      if (slot < 0) continue
      slots![slot] = DELETED_SLOT
      this.#size--
      return
    }
  }

  #put(row: number, id: Uint8Array): void {
    const slots = this.#slots
    let slot = toSlot(slots, id)
    while (slots[slot] !== EMPTY_SLOT) slot = nextSlot(slots, slot)
    slots[slot] = row + 1
    this.#used++
  }

  #findSlot(slots: Uint32Array, id: Uint8Array): number {
    for (let slot = toSlot(slots, id); slots[slot] !== EMPTY_SLOT; slot = nextSlot(slots, slot)) {
      const found = slots[slot]!
      if (found !== DELETED_SLOT && isSameId(this.#getId(found - 1), id)) return slot
    }
    return -1
  }

  #grow(): void {
    this.#move(Infinity)
    this.#oldSlots = this.#slots
    this.#moved = 0
    this.#slots = new Uint32Array(Math.ceil((Math.max(this.#size, 1_024) * GROWTH_RATIO) / MAX_LOAD_RATIO))
    this.#used = 0
  }

  /** Moves the contents of the next slots of the full table. */
  #move(slots: number): void {
    const oldSlots = this.#oldSlots
    if (!oldSlots) return
    const end = Math.min(oldSlots.length, this.#moved + slots)
    for (; this.#moved < end; this.#moved++) {
      const found = oldSlots[this.#moved]!
      if (found === EMPTY_SLOT || found === DELETED_SLOT) continue
      this.#put(found - 1, this.#getId(found - 1))
      // Not `EMPTY_SLOT`, at which a lookup would end before it reaches the ids after this slot.
      oldSlots[this.#moved] = DELETED_SLOT
    }
    if (end === oldSlots.length) this.#oldSlots = undefined
  }
}

function nextSlot(slots: Uint32Array, slot: number): number {
  return slot + 1 === slots.length ? 0 : slot + 1
}

function toSlot(slots: Uint32Array, id: Uint8Array): number {
  let hash = 0
  for (let i = 0; i < ID_BYTES; i++) hash = Math.imul(hash ^ id[i]!, 0x0100_0193)
  // Consecutive ids differ in few bits. Without this mix they cluster, and a lookup takes thousands of steps.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35)
  hash ^= hash >>> 16
  return Math.floor(((hash >>> 0) / 0x1_0000_0000) * slots.length)
}

function isSameId(a: Uint8Array, b: Uint8Array): boolean {
  for (let i = 0; i < ID_BYTES; i++) if (a[i] !== b[i]) return false
  return true
}
