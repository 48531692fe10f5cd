import type { Logger } from 'pino'
import type { Channel } from './channel.ts'

type BacklogCall = [name: string, args: readonly unknown[], timeout?: number]

/** The calls for a thread that may still be starting. */
export interface CallBacklog {
  /** Calls now, or, while the thread's app is being built, later: then there is no answer to wait for. */
  call(...call: BacklogCall): Promise<unknown> | undefined
  /** The app is built: makes the calls that came meanwhile, in order. */
  release(): Promise<unknown>[]
}

/**
 * Keeps what is broadcast between a thread's birth and the moment its app can hear it: without it a thread that starts
 * while values change would serve the old ones for ever.
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

/** The answers to a broadcast. One that does not come is logged and left out. */
export async function collectReplies(
  calls: readonly (Promise<unknown> | undefined)[],
  log: Logger,
  name?: string,
): Promise<unknown[]> {
  const results = await Promise.allSettled(calls.filter((call) => call !== undefined))
  return results.flatMap((result) => {
    if (result.status === 'fulfilled') return [result.value]
    log.warn({ err: result.reason, call: name }, 'broadcast not taken')
    return []
  })
}
