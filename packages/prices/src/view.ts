import type { Catalog } from './catalog/catalog.ts'
import { AnswerKinds } from './core/draft.ts'
import { toKindText, writeAnswer, type KindText, type Room } from './core/render.ts'
import type { Words } from './core/resolve.ts'
import { Terms } from './core/terms.ts'
import { VersionedList } from './core/versioned-list.ts'
import type { Finder, PriceIndex, RowChange } from './index/index.ts'
import { changesByOffering } from './index/offerings/by-offering.ts'
import { OverlaidIndex, Overlay } from './index/overlay.ts'
import type { Change, State } from './messages.ts'

/** What a view is made of besides its dictionary. */
export interface ViewContent {
  readonly live: Uint8Array
  readonly catalog: Catalog
  readonly indexes: ReadonlyMap<string, PriceIndex>
  /** By offering, what the segments of indexes do not have yet. */
  readonly overlays: VersionedList<Overlay>
}

/**
 * The catalog at one moment, as one thread sees it. A change makes another view; whoever works longer than a turn of the
 * loop holds his, and the last to let go of an old one closes it.
 */
export class View implements Words {
  readonly terms: Terms
  readonly live: Uint8Array
  readonly indexes: ReadonlyMap<string, Finder>
  readonly #bases: ReadonlyMap<string, PriceIndex>
  readonly #overlays: VersionedList<Overlay>
  readonly #catalog: Catalog
  readonly #kinds: AnswerKinds
  readonly #texts: KindText[]
  #holders = 1
  /** Of no meaning: keeps V8 from leaving out what is only fetched. */
  touched = 0

  constructor(terms: Terms, kinds: AnswerKinds, texts: KindText[], { live, catalog, indexes, overlays }: ViewContent) {
    this.terms = terms
    this.live = live
    this.indexes = new Map(Array.from(indexes, ([name, index]) => [name, new OverlaidIndex(index, overlays)]))
    this.#bases = indexes
    this.#overlays = overlays
    this.#catalog = catalog
    this.#kinds = kinds
    this.#texts = texts
  }

  hold(): void {
    this.#holders++
  }

  async release(): Promise<void> {
    if (--this.#holders === 0) await this.#catalog.close()
  }

  /** The view after a change. Dictionary and kinds only grow, so that both views use the same. */
  with({ terms, kinds, live, answers, segments, rows, folded }: Change): View {
    this.terms.append(terms)
    for (const kind of kinds) {
      this.#kinds.codeOf(kind.spec, kind.currency)
      this.#texts.push(toKindText(kind))
    }
    const indexes = new Map(
      Array.from(this.#bases, ([name, index]) => {
        const changed = segments.get(name)
        return [name, changed?.size ? index.with(changed) : index]
      }),
    )
    const overlays = overlaid(this.#overlays.with(folded.map((offering) => [offering, undefined])), rows)
    const content = { live, catalog: this.#catalog.with(answers), indexes, overlays }
    return new View(this.terms, this.#kinds, this.#texts, content)
  }

  /** Has the processor fetch what `write` will read, while it goes on with something else. */
  fetch(row: number): void {
    const block = this.#catalog.blockWith(row)
    this.touched ^= block.kind(block.slotOf(row))
  }

  /** The id of a row, valid at once. */
  idOf(row: number): Uint8Array {
    const block = this.#catalog.blockWith(row)
    return block.id(block.slotOf(row))
  }

  /** Writes the answer with a row, and returns where it ends. */
  write(row: number, to: Room, at: number): number {
    const block = this.#catalog.blockWith(row)
    const slot = block.slotOf(row)
    return writeAnswer(block, slot, this.#texts[block.kind(slot)]!, to, at)
  }
}

/** A thread's view of the catalog: always the newest. */
export interface Views {
  current(): View
  /** The index that a path names. @throws Problem `INDEX_NOT_LOADED` */
  indexOf(view: View, name: string): Finder
}

const overlaid = (overlays: VersionedList<Overlay>, rows: readonly RowChange[]): VersionedList<Overlay> =>
  overlays.with(
    Array.from(changesByOffering(rows), ([offering, changes]) => [
      offering,
      (overlays.get(offering) ?? Overlay.empty()).with(changes),
    ]),
  )

export function createView(
  { terms, kinds, rows }: Pick<State, 'terms' | 'kinds' | 'rows'>,
  rest: Omit<ViewContent, 'overlays'>,
): View {
  const overlays = overlaid(VersionedList.of([]), rows)
  return new View(new Terms(terms), new AnswerKinds(kinds), kinds.map(toKindText), { ...rest, overlays })
}
