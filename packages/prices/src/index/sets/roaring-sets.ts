import type { ReadonlyRoaringBitmap32, RoaringBitmap32 } from 'roaring'
import type { Roaring } from './roaring-library.ts'
import { writeSegment, type Segment, type SegmentEntry, type SegmentSource } from './segment.ts'

const BITMAP_FORMAT = 'unsafe_frozen_croaring'

/** Ordinals to add to sets and to remove from them, by the sets' keys. */
export class SetChanges {
  readonly sets = new Map<number, { add: number[]; remove: number[] }>()

  #getSet(key: number) {
    let set = this.sets.get(key)
    if (!set) this.sets.set(key, (set = { add: [], remove: [] }))
    return set
  }

  add(key: number, ordinal: number): void {
    this.#getSet(key).add.push(ordinal)
  }

  remove(key: number, ordinal: number): void {
    this.#getSet(key).remove.push(ordinal)
  }
}

/** Bitmaps in segments: the main thread freezes them, every thread views them. */
export function createRoaringSets({ RoaringBitmap32: Bitmap, bufferAlignedAllocShared }: Roaring) {
  function freeze(key: number, bitmap: RoaringBitmap32): SegmentEntry {
    // Four times faster to search than without this call.
    bitmap.runOptimize()
    return { key, cardinality: bitmap.size, bytes: bitmap.serialize(BITMAP_FORMAT) }
  }

  const view = (segment: Segment, position: number): RoaringBitmap32 =>
    Bitmap.unsafeFrozenView(segment.getSet(position), BITMAP_FORMAT)

  return {
    view,

    createEntry: (key: number, ordinals: Iterable<number>): SegmentEntry => freeze(key, new Bitmap(ordinals)),

    /** Returns a new, compact union of sets. */
    unite(bitmaps: readonly ReadonlyRoaringBitmap32[]): ReadonlyRoaringBitmap32 {
      const all = Bitmap.orMany(bitmaps)
      all.runOptimize()
      return all
    },

    createBitmap: (rows: Iterable<number>): ReadonlyRoaringBitmap32 => new Bitmap(rows),

    /** Applies changes to the sets of a segment. Unchanged sets are copied as bytes, and empty ones are dropped. */
    applyChanges(segment: Segment | undefined, { sets }: SetChanges): SegmentEntry[] {
      const entries: SegmentEntry[] = []
      const keys = segment?.keys() ?? []
      const known = new Set(keys.map(([key]) => key))
      const added = [...sets.keys()].filter((key) => !known.has(key)).map((key) => [key, -1] as const)
      for (const [key, position] of [...keys, ...added]) {
        const touched = sets.get(key)
        if (!touched) {
          entries.push({ key, cardinality: segment!.getCardinality(position), bytes: segment!.getSet(position) })
          continue
        }
        const bitmap = position < 0 ? new Bitmap() : new Bitmap(view(segment!, position))
        bitmap.removeMany(touched.remove)
        bitmap.addMany(touched.add)
        if (bitmap.size > 0) entries.push(freeze(key, bitmap))
      }
      return entries
    },

    write: (source: SegmentSource): Uint8Array =>
      writeSegment(source, (bytes) => {
        const { buffer, byteOffset } = bufferAlignedAllocShared(bytes)
        return new Uint8Array(buffer, byteOffset, bytes)
      }),
  }
}

export type RoaringSets = ReturnType<typeof createRoaringSets>

/** Reusable bitmaps: to create one costs ten times as much as an intersection. */
export class ScratchBitmaps {
  readonly #free: RoaringBitmap32[] = []
  readonly #make: () => RoaringBitmap32
  readonly #union: (bitmaps: readonly ReadonlyRoaringBitmap32[]) => RoaringBitmap32

  constructor({ RoaringBitmap32: Bitmap }: Roaring) {
    this.#make = () => new Bitmap()
    this.#union = (bitmaps) => Bitmap.orMany(bitmaps)
  }

  /** Returns operations whose results are released together. */
  begin() {
    const taken: RoaringBitmap32[] = []
    const createCopy = (bitmap: ReadonlyRoaringBitmap32): RoaringBitmap32 => {
      const copy = this.#free.pop() ?? this.#make()
      taken.push(copy)
      copy.copyFrom(bitmap)
      return copy
    }
    return {
      unite: (bitmaps: readonly ReadonlyRoaringBitmap32[]): ReadonlyRoaringBitmap32 =>
        bitmaps.length === 1 ? bitmaps[0]! : this.#union(bitmaps),
      intersect([first, ...rest]: readonly ReadonlyRoaringBitmap32[]): ReadonlyRoaringBitmap32 {
        const common = createCopy(first!)
        for (const bitmap of rest) common.andInPlace(bitmap)
        return common
      },
      subtract: (from: ReadonlyRoaringBitmap32, bitmap: ReadonlyRoaringBitmap32): ReadonlyRoaringBitmap32 =>
        createCopy(from).andNotInPlace(bitmap),
      release: () => void this.#free.push(...taken.splice(0)),
    }
  }
}

/** Views of a segment's sets, created at their first use: few of 40,000 are used, and each holds 0.3 KB. */
export class LazyViews {
  readonly segment: Segment
  readonly #views: (ReadonlyRoaringBitmap32 | undefined)[]
  readonly #sets: RoaringSets

  constructor(segment: Segment, sets: RoaringSets) {
    this.segment = segment
    this.#sets = sets
    this.#views = Array.from({ length: segment.size }, () => undefined)
  }

  get(position: number): ReadonlyRoaringBitmap32 {
    return (this.#views[position] ??= this.#sets.view(this.segment, position))
  }
}
