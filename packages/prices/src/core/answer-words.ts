/** The fields that all answers of one kind share. */
export interface AnswerKind {
  readonly spec: string
  readonly currency: string
}

/** An id or a value that an answer cannot hold in its own bytes. */
export interface AnswerText {
  readonly text: string
}

export type AnswerWord = AnswerKind | AnswerText

/**
 * Numbers the words to which answers refer: their kinds (answers with the same spec and currency have the same kind),
 * and texts. Words are only added.
 */
export class AnswerWords {
  readonly list: AnswerWord[] = []
  readonly #codes = new Map<string, number>()

  constructor(words: readonly AnswerWord[] = []) {
    this.append(words)
  }

  append(words: readonly AnswerWord[]): void {
    for (const word of words) this.ensure(word)
  }

  /** Returns the number of a word, and adds it if it is new. */
  ensure(word: AnswerWord): number {
    const key = toKey(word)
    let code = this.#codes.get(key)
    if (code === undefined) this.#codes.set(key, (code = this.list.push(word) - 1))
    return code
  }

  /** Returns the number of a text, or -1. */
  findText(text: string): number {
    return this.#codes.get(toKey({ text })) ?? -1
  }

  getKind(code: number): AnswerKind {
    return this.list[code] as AnswerKind
  }

  getText(code: number): string {
    return (this.list[code] as AnswerText).text
  }
}

// A currency has no line break and is never empty, so different words have different keys.
const toKey = (word: AnswerWord): string => ('text' in word ? `\n${word.text}` : `${word.currency}\n${word.spec}`)
