/**
 * What is yet to be written: pieces, one behind the other. Whoever waits for the same shares it, so that 10,000 groups
 * take no more memory than one, and pieces are joined once.
 */
export class Pieces {
  readonly #before: Pieces | undefined
  readonly #bytes: Buffer
  #next: Pieces | undefined
  #whole: Buffer | undefined

  private constructor(before: Pieces | undefined, bytes: Buffer) {
    this.#before = before
    this.#bytes = bytes
  }

  /** What others are made of. */
  static nothing(): Pieces {
    return new Pieces(undefined, Buffer.alloc(0))
  }

  get isEmpty(): boolean {
    return this.#before === undefined
  }

  /** Whether it is one piece. */
  get isSingle(): boolean {
    return this.#before?.isEmpty ?? false
  }

  /** The same with one more behind it. */
  with(bytes: Buffer): Pieces {
    const next = this.#next
    if (next && next.#bytes === bytes) return next
    return (this.#next = new Pieces(this, bytes))
  }

  /** All of it. */
  get whole(): Buffer {
    return (this.#whole ??= this.isSingle ? this.#bytes : Buffer.concat(this.#list()))
  }

  #list(): Buffer[] {
    const list = [this.#bytes]
    for (let one = this.#before; one && one.#before; one = one.#before) list.push(one.#bytes)
    return list.toReversed()
  }
}
