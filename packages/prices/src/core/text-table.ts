import { Literal, toTailMask } from './bytes/literal.ts'

/** Parameters of the hash function, which uses the length of a text and up to three of its code units. */
interface Recipe {
  readonly positions: readonly [number, number, number]
  readonly multiplier: number
  /** The largest distance of a text from its first slot (slots). */
  readonly longest: number
}

/** Maximum number of hash functions that one search tries. */
const MAX_TRIES = 48
/** With more texts, a Map is used. */
const MAX_HASHED_TEXTS = 4_096
/** Maximum number of slots that a text may be away from its first slot: otherwise a Map is used. */
const MAX_PROBES = 8
/**
 * At least this many sampled texts (or all) select the code units to hash. To find a hash function for 4,000 texts
 * takes 60 ms.
 */
const SAMPLE_TEXTS = 256
/** A new hash function is selected when the number of texts has grown by this factor. */
const GROWTH_RATIO = 1.25
const EMPTY = -1
/** Text that JSON does not escape, with one byte per character. */
// oxlint-disable-next-line no-control-regex
const PLAIN_TEXT = /^[^\u0000-\u001f"\\\u007f-\uffff]*$/
const QUOTE = 34
const NOT_PLAIN_LENGTH = -1
// Offsets in the cells of a slot, for texts as bytes.
const CODE = 0
const LENGTH = 1
const START = 2
const CELLS = 4

const getCodeUnit = (text: string, at: number) => (at < text.length ? text.charCodeAt(at) : 0)

/**
 * Maps texts to codes, which are numbers such as terms. Lookups use a hash function that is chosen for exactly these
 * texts. A string from JSON.parse has no hash yet, and to compute the hash of 36 characters for a Map costs three times
 * as much as three code units and one comparison (lookups of 13 strings: 175 ns, with a Map 398 ns). New texts use the
 * existing function until there are a quarter more. If too many texts differ only at other positions, a Map is used.
 */
export class TextTable {
  readonly #codes = new Map<string, number>()
  /** Number of texts at which the next lookup selects a new hash function. */
  #searchAgainAt = 0
  #hashed = false
  #p0 = 0
  #p1 = 0
  #p2 = 0
  #multiplier = 1
  #mask = 0
  #slotTexts: string[] = []
  #slotCodes = new Int32Array(0)
  // The texts as bytes, in words of four. Each slot has the code, the length in bytes, and the offset in `#words`.
  #slotBytes = new Int32Array(0)
  #words = new Int32Array(0)
  #wordsUsed = 0
  /** Length of all plain texts, if they have the same length; else 0. */
  #length = 0
  readonly #lengths = new Set<number>()
  #longest = 0
  #end = 0

  get size(): number {
    return this.#codes.size
  }

  /** Iterates over the texts and their codes, in the order of the first `set` of each text. */
  [Symbol.iterator](): IterableIterator<[text: string, code: number]> {
    return this.#codes[Symbol.iterator]()
  }

  set(text: string, code: number): void {
    this.#codes.set(text, code)
    if (isPlain(text)) {
      this.#lengths.add(text.length)
      this.#length = this.#lengths.size === 1 ? text.length : 0
      this.#longest = Math.max(this.#longest, text.length)
    }
    if (this.#hashed && !this.#insert(text, code)) this.#hashed = false
  }

  /**
   * Returns the code of a text, or -1. Unlike `find` it never selects a new hash function, so it suits callers that add
   * texts.
   */
  getCode(text: string): number {
    return this.#codes.get(text) ?? -1
  }

  /** Returns the code of a text, or -1. */
  find(text: string): number {
    if (this.#codes.size >= this.#searchAgainAt) this.#search()
    if (!this.#hashed) return this.#codes.get(text) ?? -1
    const { length } = text
    const mixed =
      length +
      31 * (getCodeUnit(text, this.#p0) + 61 * (getCodeUnit(text, this.#p1) + 127 * getCodeUnit(text, this.#p2)))
    let slot = (Math.imul(mixed, this.#multiplier) >>> 7) & this.#mask
    for (;;) {
      const code = this.#slotCodes[slot]!
      if (code === EMPTY) return -1
      if (this.#slotTexts[slot] === text) return code
      slot = (slot + 1) & this.#mask
    }
  }

  /**
   * Returns the code of the plain text (ASCII without JSON escapes) in `bytes` from `start` to a quote, or -1. Without
   * a hash function it creates the text as a string.
   * @param view a view of the same bytes
   */
  findBytes(bytes: Buffer, view: DataView, start: number): number {
    if (this.#codes.size >= this.#searchAgainAt) this.#search()
    // Ids and many other texts all have one length, so no search for the end is necessary.
    let end = start + this.#length
    if (this.#length === 0) {
      const last = start + this.#longest
      while (end < last && bytes[end] !== QUOTE) end++
    }
    if (bytes[end] !== QUOTE) return -1
    this.#end = end
    if (!this.#hashed) {
      const text = bytes.toString('latin1', start, end)
      return PLAIN_TEXT.test(text) ? (this.#codes.get(text) ?? -1) : -1
    }
    const length = end - start
    const c0 = this.#p0 < length ? bytes[start + this.#p0]! : 0
    const c1 = this.#p1 < length ? bytes[start + this.#p1]! : 0
    const c2 = this.#p2 < length ? bytes[start + this.#p2]! : 0
    let slot = (Math.imul(length + 31 * (c0 + 61 * (c1 + 127 * c2)), this.#multiplier) >>> 7) & this.#mask
    for (;;) {
      const cell = slot * CELLS
      const code = this.#slotBytes[cell + CODE]!
      if (code === EMPTY) return -1
      if (
        this.#slotBytes[cell + LENGTH] === length &&
        this.#isAt(this.#slotBytes[cell + START]!, view, start, length, bytes.length)
      )
        return code
      slot = (slot + 1) & this.#mask
    }
  }

  /** The end of the text that `findBytes` found. */
  get end(): number {
    return this.#end
  }

  /** True if the known text with its first word at `known` is in the bytes from `start`. */
  #isAt(known: number, view: DataView, start: number, length: number, end: number): boolean {
    const words = this.#words
    const last = (length - 1) >> 2
    for (let i = 0; i < last; i++) if (view.getInt32(start + 4 * i, true) !== words[known + i]) return false
    const at = start + 4 * last
    if (at + 4 <= end) return ((view.getInt32(at, true) ^ words[known + last]!) & toTailMask(length)) === 0
    for (let i = at; i < start + length; i++)
      if (view.getUint8(i) !== ((words[known + last]! >> (8 * (i - at))) & 0xff)) return false
    return true
  }

  /** Selects a hash function with few collisions for the present texts. */
  #search(): void {
    const { size } = this.#codes
    this.#searchAgainAt = size > MAX_HASHED_TEXTS ? Infinity : Math.ceil((size + 1) * GROWTH_RATIO)
    this.#hashed = false
    if (size > MAX_HASHED_TEXTS) return
    let capacity = 8
    while (capacity < size * 4) capacity *= 2
    const texts = [...this.#codes.keys()]
    const recipe = findBestRecipe(texts, capacity - 1)
    if (recipe.longest > MAX_PROBES) return
    ;[this.#p0, this.#p1, this.#p2] = recipe.positions
    this.#multiplier = recipe.multiplier
    this.#mask = capacity - 1
    this.#slotTexts = Array.from({ length: capacity }, () => '')
    this.#slotCodes = new Int32Array(capacity).fill(EMPTY)
    this.#slotBytes = new Int32Array(CELLS * capacity).fill(EMPTY)
    this.#wordsUsed = 0
    for (const [text, code] of this.#codes) this.#insert(text, code)
    this.#hashed = true
  }

  /** @returns true if the text is within the maximum probe distance */
  #insert(text: string, code: number): boolean {
    const recipe = { positions: [this.#p0, this.#p1, this.#p2], multiplier: this.#multiplier } as const
    let slot = toSlot(text, recipe, this.#mask)
    for (let probes = 0; this.#slotCodes[slot] !== EMPTY; probes++) {
      if (probes === MAX_PROBES) return false
      slot = (slot + 1) & this.#mask
    }
    this.#slotTexts[slot] = text
    this.#slotCodes[slot] = code
    this.#slotBytes.set([code, isPlain(text) ? text.length : NOT_PLAIN_LENGTH, this.#wordsUsed], slot * CELLS)
    this.#addWords(new Literal(text).words)
    return true
  }

  #addWords(words: Int32Array): void {
    const used = this.#wordsUsed + words.length
    if (used > this.#words.length) {
      const larger = new Int32Array(2 * used)
      larger.set(this.#words)
      this.#words = larger
    }
    this.#words.set(words, this.#wordsUsed)
    this.#wordsUsed = used
  }
}

const isPlain = (text: string) => text !== '' && PLAIN_TEXT.test(text)

function toSlot(text: string, { positions: [p0, p1, p2], multiplier }: Omit<Recipe, 'longest'>, mask: number): number {
  const mixed = text.length + 31 * (getCodeUnit(text, p0) + 61 * (getCodeUnit(text, p1) + 127 * getCodeUnit(text, p2)))
  return (Math.imul(mixed, multiplier) >>> 7) & mask
}

/** Selects three positions, one after the other, whose code units distinguish the largest number of texts. */
function findDistinctivePositions(texts: readonly string[]): [number, number, number] {
  const longest = texts.reduce((max, text) => Math.max(max, text.length), 0)
  const positions: number[] = []
  let keys = texts.map((text) => String(text.length))
  for (let n = 0; n < 3; n++) {
    let best = { position: 0, distinct: 0, keys }
    for (let position = 0; position < longest; position++) {
      const extended = texts.map((text, i) => `${keys[i]},${getCodeUnit(text, position)}`)
      const distinct = new Set(extended).size
      if (distinct > best.distinct) best = { position, distinct, keys: extended }
      if (distinct === texts.length) break
    }
    positions.push(best.position)
    keys = best.keys
  }
  return positions as [number, number, number]
}

function findBestRecipe(texts: readonly string[], mask: number): Recipe {
  const step = Math.max(1, Math.floor(texts.length / SAMPLE_TEXTS))
  const positions = findDistinctivePositions(texts.filter((_, i) => i % step === 0))
  let best: Recipe = { positions, multiplier: 1, longest: Infinity }
  let seed = 0x9e37_79b1
  for (let n = 0; n < MAX_TRIES && best.longest > 0; n++) {
    seed = (Math.imul(seed, 0x85eb_ca6b) + 0xc2b2_ae35) | 0
    const multiplier = seed | 1
    const longest = measureLongestProbe(texts, { positions, multiplier }, mask, best.longest)
    if (longest < best.longest) best = { positions, multiplier, longest }
  }
  return best
}

function measureLongestProbe(
  texts: readonly string[],
  recipe: Omit<Recipe, 'longest'>,
  mask: number,
  limit: number,
): number {
  const taken = new Uint8Array(mask + 1)
  let longest = 0
  for (const text of texts) {
    let slot = toSlot(text, recipe, mask)
    let probes = 0
    for (; taken[slot]; probes++) slot = (slot + 1) & mask
    if (probes >= limit) return probes
    taken[slot] = 1
    longest = Math.max(longest, probes)
  }
  return longest
}
