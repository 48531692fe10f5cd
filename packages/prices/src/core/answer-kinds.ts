import type { AnswerKind } from './answer-block.ts'

/** Numbers the kinds of answers. Answers with the same spec and currency have the same kind. */
export class AnswerKinds {
  readonly list: AnswerKind[] = []
  readonly #codes = new Map<string, number>()

  constructor(kinds: readonly AnswerKind[] = []) {
    for (const { spec, currency } of kinds) this.ensureCode(spec, currency)
  }

  ensureCode(spec: string, currency: string): number {
    // A currency has no line break, so different kinds have different keys.
    const key = `${currency}\n${spec}`
    let code = this.#codes.get(key)
    if (code === undefined) this.#codes.set(key, (code = this.list.push({ spec, currency }) - 1))
    return code
  }
}
