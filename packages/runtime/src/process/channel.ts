import { fromWire, toWire, type WireError } from '../http/problems.ts'

/** A set of remote functions: what one side of a channel may ask of the other. Arguments and results are cloned. */
export type Calls = Record<string, (...args: any[]) => unknown>

/** The functions that answer a set of calls; each may be asynchronous. */
export type Handlers<C extends Calls> = {
  [Name in keyof C]: (...args: Parameters<C[Name]>) => ReturnType<C[Name]> | Promise<Awaited<ReturnType<C[Name]>>>
}

/** A thread's line to main: ask it, and answer what it broadcasts. */
export interface Bus<ToMain extends Calls, ToThread extends Calls> {
  call<Name extends keyof ToMain & string>(
    name: Name,
    ...args: Parameters<ToMain[Name]>
  ): Promise<Awaited<ReturnType<ToMain[Name]>>>
  on<Name extends keyof ToThread & string>(name: Name, handler: Handlers<ToThread>[Name]): void
}

/** The little of a MessagePort that a channel needs. */
export interface Port {
  postMessage(message: unknown): void
  on(event: 'message', listener: (message: any) => void): unknown
}

type Message =
  | { kind: 'call'; id: number; name: string; args: unknown[] }
  | { kind: 'reply'; id: number; value?: unknown; error?: WireError }

/** One end of a two-way line between two threads. */
export interface Channel {
  call(name: string, ...args: unknown[]): Promise<unknown>
  /** Fails what still waits for a reply: the other end is gone. */
  abandon(reason: Error): void
}

/**
 * Puts calls and replies on a message port. A call that nobody handles, or whose handler fails, rejects at the
 * caller: a `Problem` arrives as the same `Problem`, anything else as an `Error` with the same stack.
 */
export function createChannel(port: Port, handlers: ReadonlyMap<string, (...args: any[]) => unknown>): Channel {
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  let lastId = 0
  let gone: Error | undefined

  async function answer({ id, name, args }: Message & { kind: 'call' }) {
    try {
      const handler = handlers.get(name)
      if (!handler) throw new Error(`no handler for "${name}"`)
      const value = await handler(...args)
      port.postMessage({ kind: 'reply', id, value } satisfies Message)
    } catch (error) {
      port.postMessage({ kind: 'reply', id, error: toWire(error) } satisfies Message)
    }
  }

  port.on('message', (message: Message) => {
    if (message.kind === 'call') return void answer(message)
    const caller = waiting.get(message.id)
    waiting.delete(message.id)
    if (message.error) caller?.reject(fromWire(message.error))
    else caller?.resolve(message.value)
  })

  return {
    call(name, ...args) {
      if (gone) return Promise.reject(gone)
      const id = ++lastId
      return new Promise((resolve, reject) => {
        // Throws, and so rejects, when the arguments cannot be cloned: then nothing waits.
        port.postMessage({ kind: 'call', id, name, args } satisfies Message)
        waiting.set(id, { resolve, reject })
      })
    },
    abandon(reason) {
      gone = reason
      for (const caller of waiting.values()) caller.reject(reason)
      waiting.clear()
    },
  }
}
