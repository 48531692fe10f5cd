import type { Problem } from '@influencer-stats/runtime/problems'
import { errors } from '../errors.ts'
import { UpstreamNode, type UpstreamReply, type UpstreamRequest } from './upstream-node.ts'

/** Methods that change no data: such a request may be repeated at any node. */
const READ_METHODS = new Set(['GET', 'HEAD'])

/** A read that a node has not answered after this time also goes to the next node (ms). */
const FAILOVER_MS = 1_500

const NOT_READY_STATUS = 503

/** The nodes of one service. All give the same replies, so one of them receives all requests until it fails. */
export class UpstreamPool {
  readonly #nodes: readonly UpstreamNode[]
  #current = 0

  /** @param urls URLs, separated by commas @param timeout maximum time until a reply begins (ms) */
  constructor(urls: string, timeout: number) {
    this.#nodes = urls.split(',').map((url) => new UpstreamNode(url, timeout))
  }

  get count(): number {
    return this.#nodes.length
  }

  /**
   * Sends a request to one node of the service.
   * @param node number of the node, from 1 on; any node if it is absent
   * @throws Problem `SERVICE_UNKNOWN`, `SERVICE_UNREACHABLE`, `SERVICE_SLOW`
   */
  async request(request: UpstreamRequest, node?: number): Promise<UpstreamReply> {
    if (node === undefined) return READ_METHODS.has(request.method) ? this.#read(request) : this.#sendChange(request)
    const selected = this.#nodes[node - 1]
    if (!selected) throw errors.SERVICE_UNKNOWN()
    return selected.request(request)
  }

  /**
   * Sends a read to one node after another. The next node receives it if the previous one failed or has not answered within
   * `FAILOVER_MS`. The first reply is the result. A frozen node accepts connections, so only the delay shows its failure.
   * A working node of stats may also reply late: a read of a new collection waits for the first reply of YouTube. So earlier
   * attempts continue. A reply with status 503 counts as a failure while another attempt continues.
   */
  #read(request: UpstreamRequest): Promise<UpstreamReply> {
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
      this.#nodes[index]!.request({ ...request, signal: attempt.signal }).then((reply) => {
        const isPending = failed + 1 < attempts.length
        if (hasReply || (reply.status === NOT_READY_STATUS && isPending)) {
          reply.abort()
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

  /** Sends a change to one node, and to the next only if nothing was sent. Later requests avoid a node that failed. */
  async #sendChange(request: UpstreamRequest): Promise<UpstreamReply> {
    for (let remaining = this.count; ; remaining--) {
      const index = this.#current
      try {
        return await this.#nodes[index]!.request(request)
      } catch (error) {
        // Several concurrent requests may detect the failure. Only the first of them selects the next node.
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
