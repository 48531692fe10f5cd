import { commonErrors } from '@influencer-stats/runtime/errors'
import { Problem } from '@influencer-stats/runtime/problems'
import { randomUUID } from 'node:crypto'
import { errors } from '../errors.ts'
import type { ForwardedLookup, LookupReply } from '../state/stats-change.ts'
import type { SideCaller } from '../youtube/side-caller.ts'

type LookupMethod = ForwardedLookup['method']
/** The calls that look up what a person entered. */
export type LookupCaller = Pick<SideCaller, LookupMethod>

export interface ForwardedLookupsOptions {
  /** Makes the calls of this node. */
  readonly caller: LookupCaller
  /** Returns true while this node polls: only the polling node may call YouTube. */
  isPolling(): boolean
  /** Returns the problem of all calls in an outage. */
  getOutage(): Problem | undefined
  /** Sends a look-up to the polling node. @throws Problem `LOG_UNAVAILABLE`, `OUTCOME_UNKNOWN` */
  send(lookup: ForwardedLookup): Promise<void>
  /** Sends a reply to all nodes. */
  reply(reply: LookupReply): void
  /** Time until a look-up without a reply fails (ms). */
  readonly timeout: number
}

/** Passes the look-ups of a node that does not poll to the polling node through the log, which has the quota. */
export class ForwardedLookups {
  readonly #options: ForwardedLookupsOptions
  readonly #pending = new Map<string, (reply: LookupReply) => void>()
  /** Makes the calls on this node while it polls, and otherwise on the polling node. */
  readonly caller: LookupCaller

  constructor(options: ForwardedLookupsOptions) {
    this.#options = options
    const forward =
      <Method extends LookupMethod>(method: Method) =>
      (...args: Parameters<LookupCaller[Method]>): ReturnType<LookupCaller[Method]> =>
        options.isPolling()
          ? this.#call(method, args)
          : (this.#forward(method, args) as ReturnType<LookupCaller[Method]>)
    this.caller = {
      findVideos: forward('findVideos'),
      findChannel: forward('findChannel'),
      findPlaylist: forward('findPlaylist'),
    }
  }

  #call<Method extends LookupMethod>(method: Method, args: readonly unknown[]): ReturnType<LookupCaller[Method]> {
    return (this.#options.caller[method] as (...all: readonly unknown[]) => ReturnType<LookupCaller[Method]>)(...args)
  }

  async #forward(method: LookupMethod, args: readonly unknown[]): Promise<unknown> {
    const { send, timeout } = this.#options
    const request = randomUUID()
    const { promise, resolve } = Promise.withResolvers<LookupReply>()
    this.#pending.set(request, resolve)
    const fault = 'the node of the cluster that polls YouTube has not replied in time'
    const timer = setTimeout(() => resolve({ request, fault }), timeout).unref()
    try {
      await send({ request, method, args })
      const reply = await promise
      if (reply.fault !== undefined) throw errors.UPSTREAM_UNAVAILABLE(reply.fault)
      return reply.value
    } finally {
      clearTimeout(timer)
      this.#pending.delete(request)
    }
  }

  /** Makes the look-up of another node. Called on the polling node. */
  async answer({ request, method, args }: ForwardedLookup): Promise<void> {
    const { getOutage, reply } = this.#options
    try {
      const outage = getOutage()
      if (outage) throw outage
      reply({ request, value: await this.#call(method, args) })
    } catch (error) {
      const { message } = error instanceof Problem ? error : commonErrors.INTERNAL()
      reply({ request, fault: message })
    }
  }

  /** Takes a reply of the polling node, which may be for another node. */
  receive(reply: LookupReply): void {
    this.#pending.get(reply.request)?.(reply)
  }
}
