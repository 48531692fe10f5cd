import type { Catalog } from './catalog/catalog.ts'
import { AnswerKinds } from './core/draft.ts'
import { toKindText, writeAnswer, type KindText, type Room } from './core/render.ts'
import type { Words } from './core/resolve.ts'
import { Terms } from './core/terms.ts'
import type { PriceIndex } from './index/index.ts'
import type { Change } from './messages.ts'

/** What a view is made of besides its dictionary. */
export interface ViewContent {
  readonly live: Uint8Array
  readonly catalog: Catalog
  readonly indexes: ReadonlyMap<string, PriceIndex>
}

/**
 * The catalog at one moment, as one thread sees it. A change makes another view; whoever works longer than a turn of the
 * loop holds his, and the last to let go of an old one closes it.
 */
export class View implements Words {
  readonly terms: Terms
  readonly live: Uint8Array
  readonly indexes: ReadonlyMap<string, PriceIndex>
  readonly #catalog: Catalog
  readonly #kinds: AnswerKinds
  readonly #texts: KindText[]
  #holders = 1
  /** Of no meaning: keeps V8 from leaving out what is only fetched. */
  touched = 0

  constructor(terms: Terms, kinds: AnswerKinds, texts: KindText[], { live, catalog, indexes }: ViewContent) {
    this.terms = terms
    this.live = live
    this.indexes = indexes
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
  with({ terms, kinds, live, blocks, segments }: Change): View {
    this.terms.append(terms)
    for (const kind of kinds) {
      this.#kinds.codeOf(kind.spec, kind.currency)
      this.#texts.push(toKindText(kind))
    }
    const indexes = new Map(
      Array.from(this.indexes, ([name, index]) => {
        const changed = segments.get(name)
        return [name, changed?.size ? index.with(changed) : index]
      }),
    )
    return new View(this.terms, this.#kinds, this.#texts, { live, catalog: this.#catalog.with(blocks), indexes })
  }

  /** Has the processor fetch what `write` will read, while it goes on with something else. */
  fetch(row: number): void {
    const block = this.#catalog.blockWith(row)
    this.touched ^= block.kind(block.slotOf(row))
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
  indexOf(view: View, name: string): PriceIndex
}

export function createView({ terms, kinds }: Pick<Change, 'terms' | 'kinds'>, rest: ViewContent): View {
  return new View(new Terms(terms), new AnswerKinds(kinds), kinds.map(toKindText), rest)
}
