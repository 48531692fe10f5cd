import { ID_BYTES } from './answer-block.ts'

const EMPTY_SLOT = 0
const DELETED_SLOT = 0xffff_ffff
const MAX_LOAD_RATIO = 0.7
const GROWTH_RATIO = 1.5
/** So many slots of a table that was full are moved with each id that comes: all of it before the next one is. */
const SLOTS_PER_MOVE = 8

/**
 * Which row an id has. It holds rows only (4 bytes each, 6 with the room between): ids lie with the answers. One that is full
 * is moved to a larger one bit by bit, as half a million ids at once would hold the loop for 0.4 s.
 */
export class IdTable {
  /** The id of a row that was added. */
  #getId: (row: number) => Uint8Array
  #slots: Uint32Array
  #used = 0
  #size = 0
  /** What is left of a table that was full: the slots from `#moved` on. */
  #oldSlots: Uint32Array | undefined
  #moved = 0

  /** @param getId the id of a row that was added; @param expected how many rows are likely to come */
  constructor(getId: (row: number) => Uint8Array, expected = 1_024) {
    this.#getId = getId
    this.#slots = new Uint32Array(Math.ceil(expected / MAX_LOAD_RATIO) + 8)
  }

  get size(): number {
    return this.#size
  }

  /** How much memory it takes (bytes). */
  get bytes(): number {
    return this.#slots.byteLength + (this.#oldSlots?.byteLength ?? 0)
  }

  /** From now on ids are read elsewhere. */
  readFrom(getId: (row: number) => Uint8Array): void {
    this.#getId = getId
  }

  /** The row of an id, or -1. */
  find(id: Uint8Array): number {
    const slot = this.#findSlot(this.#slots, id)
    if (slot >= 0) return this.#slots[slot]! - 1
    const oldSlot = this.#oldSlots ? this.#findSlot(this.#oldSlots, id) : -1
    return oldSlot < 0 ? -1 : this.#oldSlots![oldSlot]! - 1
  }

  /** Adds a row whose id is not there yet. */
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

  /** Moves what lies in some more slots of the table that was full. */
  #move(slots: number): void {
    const oldSlots = this.#oldSlots
    if (!oldSlots) return
    const end = Math.min(oldSlots.length, this.#moved + slots)
    for (; this.#moved < end; this.#moved++) {
      const found = oldSlots[this.#moved]!
      if (found === EMPTY_SLOT || found === DELETED_SLOT) continue
      this.#put(found - 1, this.#getId(found - 1))
      // Those behind it are still found.
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
  // Ids that follow each other differ in few bits: without this they lie together, and a look takes thousands.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35)
  hash ^= hash >>> 16
  return Math.floor(((hash >>> 0) / 0x1_0000_0000) * slots.length)
}

function isSameId(a: Uint8Array, b: Uint8Array): boolean {
  for (let i = 0; i < ID_BYTES; i++) if (a[i] !== b[i]) return false
  return true
}
