import { ID_BYTES } from './answers.ts'

const EMPTY = 0
const GONE = 0xffff_ffff
const FULL = 0.7
const GROWTH = 1.5
/** So many slots of a table that was full are moved with each id that comes: all of it before the next one is. */
const MOVED = 8

/**
 * Which row an id has. It holds rows only (4 bytes each, 6 with the room between): ids lie with the answers. One that is full
 * is moved to a larger one bit by bit, as half a million ids at once would hold the loop for 0.4 s.
 */
export class IdTable {
  /** The id of a row that was added. */
  #idOf: (row: number) => Uint8Array
  #slots: Uint32Array
  #used = 0
  #size = 0
  /** What is left of a table that was full: the slots from `#moved` on. */
  #full: Uint32Array | undefined
  #moved = 0

  /** @param idOf the id of a row that was added; @param expected how many rows are likely to come */
  constructor(idOf: (row: number) => Uint8Array, expected = 1_024) {
    this.#idOf = idOf
    this.#slots = new Uint32Array(Math.ceil(expected / FULL) + 8)
  }

  get size(): number {
    return this.#size
  }

  /** How much memory it takes (bytes). */
  get bytes(): number {
    return this.#slots.byteLength + (this.#full?.byteLength ?? 0)
  }

  /** From now on ids are read elsewhere. */
  readFrom(idOf: (row: number) => Uint8Array): void {
    this.#idOf = idOf
  }

  /** The row of an id, or -1. */
  find(id: Uint8Array): number {
    const slot = this.#slotOf(this.#slots, id)
    if (slot >= 0) return this.#slots[slot]! - 1
    const left = this.#full ? this.#slotOf(this.#full, id) : -1
    return left < 0 ? -1 : this.#full![left]! - 1
  }

  /** Adds a row whose id is not there yet. */
  add(row: number, id: Uint8Array): void {
    this.#move(MOVED)
    if (this.#used >= this.#slots.length * FULL) this.#grow()
    this.#put(row, id)
    this.#size++
  }

  delete(id: Uint8Array): void {
    for (const slots of [this.#slots, this.#full]) {
      const slot = slots ? this.#slotOf(slots, id) : -1
      if (slot < 0) continue
      slots![slot] = GONE
      this.#size--
      return
    }
  }

  #put(row: number, id: Uint8Array): void {
    const slots = this.#slots
    let slot = placeIn(slots, id)
    while (slots[slot] !== EMPTY) slot = next(slots, slot)
    slots[slot] = row + 1
    this.#used++
  }

  #slotOf(slots: Uint32Array, id: Uint8Array): number {
    for (let slot = placeIn(slots, id); slots[slot] !== EMPTY; slot = next(slots, slot)) {
      const found = slots[slot]!
      if (found !== GONE && same(this.#idOf(found - 1), id)) return slot
    }
    return -1
  }

  #grow(): void {
    this.#move(Infinity)
    this.#full = this.#slots
    this.#moved = 0
    this.#slots = new Uint32Array(Math.ceil((Math.max(this.#size, 1_024) * GROWTH) / FULL))
    this.#used = 0
  }

  /** Moves what lies in some more slots of the table that was full. */
  #move(slots: number): void {
    const full = this.#full
    if (!full) return
    const end = Math.min(full.length, this.#moved + slots)
    for (; this.#moved < end; this.#moved++) {
      const found = full[this.#moved]!
      if (found === EMPTY || found === GONE) continue
      this.#put(found - 1, this.#idOf(found - 1))
      // Those behind it are still found.
      full[this.#moved] = GONE
    }
    if (end === full.length) this.#full = undefined
  }
}

function next(slots: Uint32Array, slot: number): number {
  return slot + 1 === slots.length ? 0 : slot + 1
}

function placeIn(slots: Uint32Array, id: Uint8Array): number {
  let hash = 0
  for (let i = 0; i < ID_BYTES; i++) hash = Math.imul(hash ^ id[i]!, 0x0100_0193)
  // Ids that follow each other differ in few bits: without this they lie together, and a look takes thousands.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35)
  hash ^= hash >>> 16
  return Math.floor(((hash >>> 0) / 0x1_0000_0000) * slots.length)
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  for (let i = 0; i < ID_BYTES; i++) if (a[i] !== b[i]) return false
  return true
}
