import type { AnswerStore } from '../answer-store/answer-store.ts'
import { AnswerWords } from '../core/answer-words.ts'
import { toWordText, writeAnswer, type OutputBuffer, type WordText } from './render-answer.ts'
import type { Amount } from '../core/values/amount.ts'
import type { AnswerReader } from './row-tests.ts'
import type { Dictionary } from './resolve-request.ts'
import { Terms } from '../core/terms.ts'
import { VersionedList } from '../core/collections/versioned-list.ts'
import type { RowFinder, PriceIndex, RowChange } from '../index/price-index.ts'
import { groupChangesByOffering } from '../index/offerings/group-by-offering.ts'
import { OverlaidIndex, Overlay } from '../index/overlay.ts'
import type { CatalogChange, CatalogState } from '../messages.ts'

/** The contents of a view, except its dictionary and its answer words. */
export interface CatalogViewContent {
  readonly usedTerms: Uint8Array
  readonly answerStore: AnswerStore
  readonly indexes: ReadonlyMap<string, PriceIndex>
  /** By offering, the changes that the segments of the indexes do not contain yet. */
  readonly overlays: VersionedList<Overlay>
}

/**
 * The catalog at one moment, as one thread sees it. A change creates a new view. Work that lasts longer than a turn of
 * the event loop holds its view. The last `release` of an old view closes it.
 */
export class CatalogView implements Dictionary, AnswerReader {
  readonly terms: Terms
  readonly usedTerms: Uint8Array
  readonly indexes: ReadonlyMap<string, RowFinder>
  readonly #baseIndexes: ReadonlyMap<string, PriceIndex>
  readonly #overlays: VersionedList<Overlay>
  readonly #answerStore: AnswerStore
  /** The words of the answers. */
  readonly words: AnswerWords
  readonly #texts: WordText[]
  #holders = 1
  /** An unused value that prevents V8 from removing the prefetch reads. */
  prefetchSink = 0

  constructor(
    terms: Terms,
    words: AnswerWords,
    texts: WordText[],
    { usedTerms, answerStore, indexes, overlays }: CatalogViewContent,
  ) {
    this.terms = terms
    this.usedTerms = usedTerms
    this.indexes = new Map(Array.from(indexes, ([name, index]) => [name, new OverlaidIndex(index, overlays)]))
    this.#baseIndexes = indexes
    this.#overlays = overlays
    this.#answerStore = answerStore
    this.words = words
    this.#texts = texts
  }

  hold(): void {
    this.#holders++
  }

  async release(): Promise<void> {
    if (--this.#holders === 0) await this.#answerStore.close()
  }

  /** Returns the view after a change. The dictionary and the words only grow, so both views share them. */
  with({ terms, words, usedTerms, answers, segments, rows, rebuilt }: CatalogChange): CatalogView {
    this.terms.append(terms)
    this.words.append(words)
    for (const word of words) this.#texts.push(toWordText(word))
    const indexes = new Map(
      Array.from(this.#baseIndexes, ([name, index]) => {
        const changed = segments.get(name)
        return [name, changed?.size ? index.with(changed) : index]
      }),
    )
    const overlays = addToOverlays(this.#overlays.with(rebuilt.map((offering) => [offering, undefined])), rows)
    const content = { usedTerms, answerStore: this.#answerStore.with(answers), indexes, overlays }
    return new CatalogView(this.terms, this.words, this.#texts, content)
  }

  /** Loads into the processor's cache the data that `write` will read. */
  prefetch(row: number): void {
    const block = this.#answerStore.getBlock(row)
    this.prefetchSink ^= block.getKind(block.toSlot(row))
  }

  /** Returns the id of a row, valid only for immediate use. */
  getId(row: number): Uint8Array {
    const block = this.#answerStore.getBlock(row)
    return block.getId(block.toSlot(row))
  }

  getAmount(row: number): Amount {
    const block = this.#answerStore.getBlock(row)
    return block.getAmount(block.toSlot(row), this.words)
  }

  getCurrency(row: number): string {
    const block = this.#answerStore.getBlock(row)
    return this.words.getKind(block.getKind(block.toSlot(row))).currency
  }

  /** Writes the answer of a row, and returns its end. */
  write(row: number, to: OutputBuffer, at: number): number {
    const block = this.#answerStore.getBlock(row)
    const slot = block.toSlot(row)
    return writeAnswer(block, slot, this.#texts[block.getKind(slot)]!, this.words, to, at)
  }
}

/** A thread's current view of the catalog. */
export interface CatalogViews {
  getCurrent(): CatalogView
  /**
   * Returns the index that a path names.
   * @throws Problem `INDEX_NOT_LOADED`
   */
  findIndex(view: CatalogView, name: string): RowFinder
}

const addToOverlays = (overlays: VersionedList<Overlay>, rows: readonly RowChange[]): VersionedList<Overlay> =>
  overlays.with(
    Array.from(groupChangesByOffering(rows), ([offering, changes]) => [
      offering,
      (overlays.get(offering) ?? Overlay.createEmpty()).with(changes),
    ]),
  )

export function createCatalogView(
  { terms, words, rows }: Pick<CatalogState, 'terms' | 'words' | 'rows'>,
  rest: Omit<CatalogViewContent, 'overlays'>,
): CatalogView {
  const overlays = addToOverlays(VersionedList.fromEntries([]), rows)
  return new CatalogView(new Terms(terms), new AnswerWords(words), words.map(toWordText), { ...rest, overlays })
}
