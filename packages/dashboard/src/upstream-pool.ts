import type { Problem } from '@influencer-stats/runtime/problems'
import { errors } from './errors.ts'
import { UpstreamNode, type UpstreamReply, type UpstreamRequest } from './upstream-node.ts'

/** What changes nothing, and may be asked again wherever it was asked before. */
const READ_METHODS = new Set(['GET', 'HEAD'])

/** A read that a node has not answered after this time goes to the next node, too (ms). */
const FAILOVER_MS = 1_500

const NOT_READY_STATUS = 503

/** One service, which may be several nodes: all of them give the same, so that one is asked until it does not answer. */
export class UpstreamPool {
  readonly #nodes: readonly UpstreamNode[]
  #current = 0

  /** @param urls separated by commas; @param timeout a reply has to begin within (ms) */
  constructor(urls: string, timeout: number) {
    this.#nodes = urls.split(',').map((url) => new UpstreamNode(url, timeout))
  }

  get count(): number {
    return this.#nodes.length
  }

  /** @param node that one alone, counted from 1 @throws Problem `SERVICE_UNKNOWN`, `SERVICE_UNREACHABLE`, `SERVICE_SLOW` */
  async request(current: UpstreamRequest, node?: number): Promise<UpstreamReply> {
    if (node === undefined) return READ_METHODS.has(current.method) ? this.#read(current) : this.#sendChange(current)
    const selected = this.#nodes[node - 1]
    if (!selected) throw errors.SERVICE_UNKNOWN()
    return selected.request(current)
  }

  /**
   * Asks the nodes in turn, each where the one before it failed or has not answered for some time, and resolves with the first
   * answer: a frozen node accepts connections, and some reads of a node that works wait for first numbers.
   */
  #read(current: UpstreamRequest): Promise<UpstreamReply> {
    const { promise, resolve, reject } = Promise.withResolvers<UpstreamReply>()
    const first = this.#current
    const attempts: AbortController[] = []
    let failed = 0
    let hasReply = false
    let timer: NodeJS.Timeout | undefined
    const next = (): void => {
      clearTimeout(timer)
      if (attempts.length === this.count) return
      const index = (first + attempts.length) % this.count
      const attempt = new AbortController()
      attempts.push(attempt)
      if (attempts.length < this.count) timer = setTimeout(next, FAILOVER_MS)
      this.#nodes[index]!.request({ ...current, signal: attempt.signal }).then((reply) => {
        const isPending = failed + 1 < attempts.length
        if (hasReply || (reply.status === NOT_READY_STATUS && isPending)) {
          reply.cut()
          return fail(errors.SERVICE_UNREACHABLE())
        }
        hasReply = true
        clearTimeout(timer)
        for (const other of attempts) if (other !== attempt) other.abort()
        if (this.#current === first) this.#current = index
        resolve(reply)
      }, fail)
    }
    const fail = (error: unknown): void => {
      if (hasReply) return
      if (++failed === this.count) reject(error)
      else next()
    }
    next()
    return promise
  }

  /** Asks one node; the next one only where nothing was sent. A node that does not answer gets no later request for now. */
  async #sendChange(current: UpstreamRequest): Promise<UpstreamReply> {
    for (let remaining = this.count; ; remaining--) {
      const index = this.#current
      try {
        return await this.#nodes[index]!.request(current)
      } catch (error) {
        // Many may find it gone at once.
        if (this.#current === index) this.#current = (index + 1) % this.count
        if (remaining === 1 || !isRefused(error)) throw error
      }
    }
  }

  close(): void {
    for (const upstream of this.#nodes) upstream.close()
  }
}

/** True if the node accepted no connection: the change was not made. */
const isRefused = (error: unknown): boolean =>
  ((error as Problem).cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED'
