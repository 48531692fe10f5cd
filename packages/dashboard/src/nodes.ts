import type { Problem } from '@influencer-stats/runtime/problems'
import { errors } from './errors.ts'
import { Upstream, type Answer, type Asked } from './upstream.ts'

/** What changes nothing, and may be asked again wherever it was asked before. */
const READS = new Set(['GET', 'HEAD'])

/** One service, which may be several nodes: all of them give the same, so that one is asked until it does not answer. */
export class Nodes {
  readonly #all: readonly Upstream[]
  #asked = 0

  /** @param urls separated by commas; @param timeout a reply has to begin within (ms) */
  constructor(urls: string, timeout: number) {
    this.#all = urls.split(',').map((url) => new Upstream(url, timeout))
  }

  get count(): number {
    return this.#all.length
  }

  /** @param node that one alone, counted from 1 @throws Problem `SERVICE_UNKNOWN`, `SERVICE_UNREACHABLE`, `SERVICE_SLOW` */
  async ask(asked: Asked, node?: number): Promise<Answer> {
    if (node !== undefined) {
      const one = this.#all[node - 1]
      if (!one) throw errors.SERVICE_UNKNOWN()
      return one.ask(asked)
    }
    for (let left = this.count; ; left--) {
      const index = this.#asked
      try {
        return await this.#all[index]!.ask(asked)
      } catch (error) {
        // Many may find it gone at once.
        if (this.#asked === index) this.#asked = (index + 1) % this.count
        if (left === 1 || !mayAskAgain(asked, error)) throw error
      }
    }
  }

  close(): void {
    for (const upstream of this.#all) upstream.close()
  }
}

/** A change that may have been made is not made again; one that waited for long has waited enough. */
function mayAskAgain({ method }: Asked, error: unknown): boolean {
  const { code, cause } = error as Problem
  if (code !== 'SERVICE_UNREACHABLE') return false
  return READS.has(method) || (cause as NodeJS.ErrnoException).code === 'ECONNREFUSED'
}
