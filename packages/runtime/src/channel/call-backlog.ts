import type { Logger } from 'pino'
import type { Channel } from './channel.ts'

type BacklogCall = [name: string, args: readonly unknown[], timeout?: number]

/** Calls to a thread that may still be starting. */
export interface CallBacklog {
  /** Calls the thread. While the thread builds its app, the call is queued instead, and the result is `undefined`. */
  call(...call: BacklogCall): Promise<unknown> | undefined
  /** Calls the thread without a reply. While the thread builds its app, the call is queued. */
  notify(name: string, args: readonly unknown[]): void
  /** Makes the queued calls in order, and returns their replies. Call this when the app is built. */
  release(): Promise<unknown>[]
}

/**
 * Queues broadcasts from the start of a thread until its app can receive them. Without that, a thread that starts
 * during a change would serve the old values forever.
 */
export function createCallBacklog(channel: Pick<Channel, 'call' | 'notify'>): CallBacklog {
  let pendingCalls: BacklogCall[] | undefined = []
  return {
    call(...call) {
      if (!pendingCalls) return channel.call(...call)
      pendingCalls.push(structuredClone(call))
      return undefined
    },
    notify(...call) {
      if (pendingCalls) pendingCalls.push(structuredClone(call))
      else channel.notify(...call)
    },
    release() {
      const calls = pendingCalls ?? []
      pendingCalls = undefined
      return calls.map((call) => channel.call(...call))
    },
  }
}

/** Logs the error of a call without a reply. */
export const logNoticeFault = (log: Logger, error: unknown): void =>
  log.warn({ err: error }, 'broadcast failed on a thread')

/**
 * Collects the replies to a broadcast. A failed call is logged and omitted.
 * @param name name of the call, for the log
 */
export async function collectReplies(
  calls: readonly (Promise<unknown> | undefined | void)[],
  log: Logger,
  name?: string,
): Promise<unknown[]> {
  const results = await Promise.allSettled(calls.filter((call) => call !== undefined))
  return results.flatMap((result) => {
    if (result.status === 'fulfilled') return [result.value]
    log.warn({ err: result.reason, call: name }, 'broadcast failed on a thread')
    return []
  })
}
