import type { ThreadCount } from './messages.ts'

/** How many streams are open on all threads: one cell of shared memory. */
export const createStreamCell = () => new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)

/** Main's way to ask all threads for their streams. */
export class Census {
  readonly cell = createStreamCell()
  readonly #ask: (round: number) => Promise<void>
  readonly #rounds = new Map<number, ThreadCount[]>()
  #round = 0

  constructor(ask: (round: number) => Promise<void>) {
    this.#ask = ask
  }

  /** Every thread's streams. */
  async take(): Promise<ThreadCount[]> {
    const round = ++this.#round
    const counts: ThreadCount[] = []
    this.#rounds.set(round, counts)
    await this.#ask(round)
    this.#rounds.delete(round)
    return counts.sort((a, b) => a.thread - b.thread)
  }

  counted(round: number, count: ThreadCount): void {
    this.#rounds.get(round)?.push(count)
  }

  /** A thread that died took its streams along without counting them off. */
  async recount(): Promise<void> {
    const counts = await this.take()
    const streams = counts.reduce((sum, count) => sum + count.streams, 0)
    Atomics.store(new Int32Array(this.cell), 0, streams)
  }
}
