import { ID_BYTES } from './answers.ts'

const EMPTY = 0
const GONE = 0xffff_ffff
const FULL = 0.7
const GROWTH = 1.5

/** Which row an id has. It holds rows only (4 bytes each, 6 with the room between): ids lie with the answers. */
export class IdTable {
  /** The id of a row that was added. */
  #idOf: (row: number) => Uint8Array
  #slots: Uint32Array
  #used = 0
  #size = 0

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
    return this.#slots.byteLength
  }

  /** From now on ids are read elsewhere. */
  readFrom(idOf: (row: number) => Uint8Array): void {
    this.#idOf = idOf
  }

  /** The row of an id, or -1. */
  find(id: Uint8Array): number {
    const slot = this.#slotOf(id)
    return slot < 0 ? -1 : this.#slots[slot]! - 1
  }

  /** Adds a row whose id is not there yet. */
  add(row: number, id: Uint8Array): void {
    if (this.#used >= this.#slots.length * FULL) this.#grow()
    let slot = this.#place(id)
    while (this.#slots[slot] !== EMPTY) slot = this.#next(slot)
    this.#slots[slot] = row + 1
    this.#used++
    this.#size++
  }

  delete(id: Uint8Array): void {
    const slot = this.#slotOf(id)
    if (slot < 0) return
    this.#slots[slot] = GONE
    this.#size--
  }

  #slotOf(id: Uint8Array): number {
    for (let slot = this.#place(id); this.#slots[slot] !== EMPTY; slot = this.#next(slot)) {
      const found = this.#slots[slot]!
      if (found !== GONE && same(this.#idOf(found - 1), id)) return slot
    }
    return -1
  }

  #next(slot: number): number {
    return slot + 1 === this.#slots.length ? 0 : slot + 1
  }

  #place(id: Uint8Array): number {
    let hash = 0
    for (let i = 0; i < ID_BYTES; i++) hash = Math.imul(hash ^ id[i]!, 0x0100_0193)
    return Math.floor(((hash >>> 0) / 0x1_0000_0000) * this.#slots.length)
  }

  #grow(): void {
    const old = this.#slots
    this.#slots = new Uint32Array(Math.ceil((Math.max(this.#size, 1_024) * GROWTH) / FULL))
    this.#used = 0
    this.#size = 0
    for (const found of old) if (found !== EMPTY && found !== GONE) this.add(found - 1, this.#idOf(found - 1))
  }
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  for (let i = 0; i < ID_BYTES; i++) if (a[i] !== b[i]) return false
  return true
}
