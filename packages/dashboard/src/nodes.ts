import type { Problem } from '@influencer-stats/runtime/problems'
import { errors } from './errors.ts'
import { Upstream, type Answer, type Asked } from './upstream.ts'

/** What changes nothing, and may be asked again wherever it was asked before. */
const READS = new Set(['GET', 'HEAD'])

/** A read that a node has not answered after this time goes to the next node, too (ms). */
const FAILOVER_MS = 1_500

const NOT_READY = 503

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
    if (node === undefined) return READS.has(asked.method) ? this.#read(asked) : this.#change(asked)
    const one = this.#all[node - 1]
    if (!one) throw errors.SERVICE_UNKNOWN()
    return one.ask(asked)
  }

  /**
   * Asks the nodes in turn, each where the one before it failed or has not answered for some time, and resolves with the first
   * answer: a frozen node accepts connections, and some reads of a node that works wait for first numbers.
   */
  #read(asked: Asked): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const first = this.#asked
    const attempts: AbortController[] = []
    let failed = 0
    let hasAnswer = false
    let timer: NodeJS.Timeout | undefined
    const next = (): void => {
      clearTimeout(timer)
      if (attempts.length === this.count) return
      const index = (first + attempts.length) % this.count
      const attempt = new AbortController()
      attempts.push(attempt)
      if (attempts.length < this.count) timer = setTimeout(next, FAILOVER_MS)
      this.#all[index]!.ask({ ...asked, signal: attempt.signal }).then((answer) => {
        const isPending = failed + 1 < attempts.length
        if (hasAnswer || (answer.status === NOT_READY && isPending)) {
          answer.cut()
          return fail(errors.SERVICE_UNREACHABLE())
        }
        hasAnswer = true
        clearTimeout(timer)
        for (const other of attempts) if (other !== attempt) other.abort()
        if (this.#asked === first) this.#asked = index
        resolve(answer)
      }, fail)
    }
    const fail = (error: unknown): void => {
      if (hasAnswer) return
      if (++failed === this.count) reject(error)
      else next()
    }
    next()
    return promise
  }

  /** Asks one node; the next one only where nothing was sent. A node that does not answer gets no later request for now. */
  async #change(asked: Asked): Promise<Answer> {
    for (let left = this.count; ; left--) {
      const index = this.#asked
      try {
        return await this.#all[index]!.ask(asked)
      } catch (error) {
        // Many may find it gone at once.
        if (this.#asked === index) this.#asked = (index + 1) % this.count
        if (left === 1 || !wasRefused(error)) throw error
      }
    }
  }

  close(): void {
    for (const upstream of this.#all) upstream.close()
  }
}

/** True if the node accepted no connection: the change was not made. */
const wasRefused = (error: unknown): boolean =>
  ((error as Problem).cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED'
