import { commonErrors } from '../http/common-errors.ts'
import { toReadProblem } from '../level/read-errors.ts'
import { getCurrentTrace, runInTrace, type Trace } from '../trace.ts'
import { parseWireError, toWireError, type WireError } from '../http/problems.ts'

/** A set of remote functions: what one side of a channel may ask of the other. Arguments and results are cloned. */
export type Calls = Record<string, (...args: any[]) => unknown>

/** The functions that answer a set of calls; each may be asynchronous. */
export type CallHandlers<C extends Calls> = {
  [Name in keyof C]: (...args: Parameters<C[Name]>) => ReturnType<C[Name]> | Promise<Awaited<ReturnType<C[Name]>>>
}

/** A thread's line to main: ask it, and answer what it broadcasts. */
export interface Bus<ToMain extends Calls, ToThread extends Calls> {
  /** @throws Problem `INTERNAL_TIMEOUT` after 30 s: main may still do what it was asked */
  call<Name extends keyof ToMain & string>(
    name: Name,
    ...args: Parameters<ToMain[Name]>
  ): Promise<Awaited<ReturnType<ToMain[Name]>>>
  on<Name extends keyof ToThread & string>(name: Name, handler: CallHandlers<ToThread>[Name]): void
  /** The same line with another deadline for its calls (ms). */
  withTimeout(timeout: number): Bus<ToMain, ToThread>
}

/** Main's call to all serving threads. */
export interface Broadcast<ToThread extends Calls> {
  /**
   * Runs `name` on every serving thread and gives their answers, in no order. A thread that dies, that fails, or that has
   * not answered 5 s after one that hangs is ended (`watchdogTimeout`) is left out and logged. One whose app is being built
   * runs it later, and nobody waits for that.
   */
  <Name extends keyof ToThread & string>(
    name: Name,
    ...args: Parameters<ToThread[Name]>
  ): Promise<Awaited<ReturnType<ToThread[Name]>>[]>
  /** The same with another deadline (ms). */
  withTimeout(timeout: number): Broadcast<ToThread>
}

/** The little of a MessagePort that a channel needs. */
export interface Port {
  postMessage(message: unknown): void
  on(event: 'message', listener: (message: any) => void): unknown
}

type ChannelMessage =
  | { kind: 'call'; id: number; name: string; args: readonly unknown[]; trace?: Trace | undefined }
  | { kind: 'reply'; id: number; value?: unknown; error?: WireError }

/** One end of a two-way line between two threads. What is said within a turn of the event loop goes as one message. */
export interface Channel {
  /** @param timeout ms until the call fails with `INTERNAL_TIMEOUT`; what is answered later is dropped */
  call(name: string, args: readonly unknown[], timeout?: number): Promise<unknown>
  /** Fails what still waits for a reply: the other end is gone. */
  rejectAll(reason: Error): void
}

interface PendingCall {
  resolve(value: unknown): void
  reject(error: Error): void
  readonly deadline: NodeJS.Timeout
}

const CALL_TIMEOUT_MS = 30_000

/** So much of what came is done in a turn, so that others get on meanwhile: each may end in a reply that is written. */
const MESSAGES_PER_TURN = 8

/**
 * Puts calls and replies on a message port. A call that nobody handles, or whose handler fails, rejects at the
 * caller: a `Problem` arrives as the same `Problem`, anything else as an `Error` with the same stack.
 */
export function createChannel(port: Port, handlers: ReadonlyMap<string, (...args: any[]) => unknown>): Channel {
  const pendingCalls = new Map<number, PendingCall>()
  let lastId = 0
  let closeReason: Error | undefined

  function take(id: number): PendingCall | undefined {
    const caller = pendingCalls.get(id)
    pendingCalls.delete(id)
    clearTimeout(caller?.deadline)
    return caller
  }

  function expire(id: number, name: string, timeout: number): void {
    const cause = new Error(`"${name}" was not answered within ${timeout} ms`)
    take(id)?.reject(commonErrors.INTERNAL_TIMEOUT(undefined, { cause }))
  }

  async function handleCall({ id, name, args, trace }: ChannelMessage & { kind: 'call' }) {
    try {
      const handler = handlers.get(name)
      if (!handler) throw new Error(`no handler for "${name}"`)
      outbox.send({ kind: 'reply', id, value: await runInTrace(trace, () => handler(...args)) })
    } catch (error) {
      fail(id, error)
    }
  }

  const fail = (id: number, error: unknown) =>
    outbox.send({ kind: 'reply', id, error: toWireError(toReadProblem(error) ?? error) })

  const outbox = new Outbox(port, (message, error) => {
    // What cannot be cloned was not sent.
    if (message.kind === 'call') take(message.id)?.reject(error)
    else fail(message.id, error)
  })

  /** What a message leads to. A reply has come in time, even if its caller is told some turns later. */
  function read(message: ChannelMessage): () => void {
    if (message.kind === 'call') return () => void handleCall(message)
    const caller = take(message.id)
    const { error, value } = message
    return () => (error ? caller?.reject(parseWireError(error)) : caller?.resolve(value))
  }

  const turns = new TurnQueue()
  port.on('message', (messages: readonly ChannelMessage[]) => turns.add(messages.map(read)))

  return {
    call(name, args, timeout = CALL_TIMEOUT_MS) {
      if (closeReason) return Promise.reject(closeReason)
      const id = ++lastId
      return new Promise((resolve, reject) => {
        // What came while this thread itself was busy came in time: it is read before the next turn.
        const deadline = setTimeout(() => setImmediate(expire, id, name, timeout), timeout).unref()
        pendingCalls.set(id, { resolve, reject, deadline })
        outbox.send({ kind: 'call', id, name, args, trace: getCurrentTrace() })
      })
    },
    rejectAll(reason) {
      closeReason = reason
      for (const id of pendingCalls.keys()) take(id)!.reject(reason)
    },
  }
}

/** Says what comes in a turn as one message: each alone would cost 40 us, as much as all the rest of a call. */
class Outbox {
  readonly #port: Port
  readonly #onRefused: (message: ChannelMessage, error: Error) => void
  #messages: ChannelMessage[] = []

  /** @param onRefused is told what cannot be cloned */
  constructor(port: Port, onRefused: (message: ChannelMessage, error: Error) => void) {
    this.#port = port
    this.#onRefused = onRefused
  }

  send(message: ChannelMessage): void {
    if (this.#messages.push(message) === 1) setImmediate(() => this.#flush())
  }

  #flush(): void {
    const messages = this.#messages
    this.#messages = []
    try {
      this.#port.postMessage(messages)
    } catch {
      for (const message of messages) this.#sendAlone(message)
    }
  }

  #sendAlone(message: ChannelMessage): void {
    try {
      this.#port.postMessage([message])
    } catch (error) {
      this.#onRefused(message, error as Error)
    }
  }
}

/** Does what is to be done in its order, some of it a turn. */
class TurnQueue {
  #steps: (() => void)[] = []
  /** So many of them are done. */
  #done = 0

  add(steps: readonly (() => void)[]): void {
    const isIdle = this.#steps.length === 0
    for (const step of steps) this.#steps.push(step)
    if (isIdle) this.#take()
  }

  readonly #take = (): void => {
    const end = Math.min(this.#done + MESSAGES_PER_TURN, this.#steps.length)
    while (this.#done < end) this.#steps[this.#done++]!()
    if (this.#done < this.#steps.length) return void setImmediate(this.#take)
    this.#steps = []
    this.#done = 0
  }
}

/** A thread's end of its line. */
export function createBus(port: Port): Bus<Calls, Calls> {
  const handlers = new Map<string, (...args: any[]) => unknown>()
  const channel = createChannel(port, handlers)
  const withTimeout = (timeout?: number): Bus<Calls, Calls> => ({
    call: (name, ...args) => channel.call(name, args, timeout) as never,
    on: (name, handler) => void handlers.set(name, handler),
    withTimeout,
  })
  return withTimeout()
}
