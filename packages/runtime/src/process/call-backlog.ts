import type { Logger } from 'pino'
import type { Channel } from './channel.ts'

type BacklogCall = [name: string, args: readonly unknown[], timeout?: number]

/** Calls to a thread that may still be starting. */
export interface CallBacklog {
  /** Calls the thread. While its app is being built, the call is queued, and there is no reply to wait for. */
  call(...call: BacklogCall): Promise<unknown> | undefined
  /** Call this when the app is built: makes the queued calls in order. */
  release(): Promise<unknown>[]
}

/**
 * Queues broadcasts from the start of a thread until its app can receive them. Without that, a thread that starts
 * during a change would serve the old values forever.
 */
export function createCallBacklog(channel: Pick<Channel, 'call'>): CallBacklog {
  let pendingCalls: BacklogCall[] | undefined = []
  return {
    call(...call) {
      if (!pendingCalls) return channel.call(...call)
      pendingCalls.push(structuredClone(call))
      return undefined
    },
    release() {
      const calls = pendingCalls ?? []
      pendingCalls = undefined
      return calls.map((call) => channel.call(...call))
    },
  }
}

/** Collects the replies to a broadcast. A failed call is logged and omitted. */
export async function collectReplies(
  calls: readonly (Promise<unknown> | undefined)[],
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
