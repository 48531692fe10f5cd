import { Batcher } from '../async/batcher.ts'
import { commonErrors } from '../errors/common-errors.ts'
import { toReadProblem } from '../level/read-errors.ts'
import { getCurrentTrace, runInTrace, type Trace } from '../trace.ts'
import { parseWireError, toWireError, type WireError } from '../errors/problems.ts'

/** Remote functions that one end of a channel can call. Arguments and results are cloned. */
export type Calls = Record<string, (...args: any[]) => unknown>

/** The functions that handle a set of calls. They may be asynchronous. */
export type CallHandlers<C extends Calls> = {
  [Name in keyof C]: (...args: Parameters<C[Name]>) => ReturnType<C[Name]> | Promise<Awaited<ReturnType<C[Name]>>>
}

/** A thread's connection to main: calls main, and handles main's broadcasts. */
export interface Bus<ToMain extends Calls, ToThread extends Calls> {
  /** @throws Problem `INTERNAL_TIMEOUT` after 30 s: main may still complete the call; any error of the handler */
  call<Name extends keyof ToMain & string>(
    name: Name,
    ...args: Parameters<ToMain[Name]>
  ): Promise<Awaited<ReturnType<ToMain[Name]>>>
  on<Name extends keyof ToThread & string>(name: Name, handler: CallHandlers<ToThread>[Name]): void
  /** Sends the calls so far at once. For a caller that has already collected the requests of a turn itself. */
  flush(): void
  /** The same connection with another timeout for its calls (ms). */
  withTimeout(timeout: number): Bus<ToMain, ToThread>
}

/** Calls a function on all serving threads. */
export interface Broadcast<ToThread extends Calls> {
  /**
   * Runs `name` on every serving thread and returns the results, in any order. A thread that dies, fails or does not
   * reply in time is omitted and logged. The time is six times `watchdogTimeout` plus 5 s: a stuck thread is ended
   * before that. A thread whose app is being built runs the function later, and its result is omitted.
   */
  <Name extends keyof ToThread & string>(
    name: Name,
    ...args: Parameters<ToThread[Name]>
  ): Promise<Awaited<ReturnType<ToThread[Name]>>[]>
  /** The same with another timeout (ms). */
  withTimeout(timeout: number): Broadcast<ToThread>
  /**
   * The same, but without a reply of one thread. For a call of that thread: the function runs there before the thread
   * gets the reply to its call.
   * @param thread `threadId` of the thread
   */
  withoutReplyOf(thread: number): Broadcast<ToThread>
}

/** The part of a MessagePort that a channel needs. */
export interface Port {
  postMessage(message: unknown): void
  on(event: 'message', listener: (message: any) => void): unknown
}

type ChannelMessage =
  | { kind: 'call'; id: number; name: string; args: readonly unknown[]; trace?: Trace | undefined }
  | { kind: 'reply'; id: number; value?: unknown; error?: WireError }

/** Id of a call without a reply. */
const NOTICE_ID = 0

/** One end of a two-way connection between two threads. All messages of one turn of the event loop are sent as one. */
export interface Channel {
  /** @param timeout ms until the call fails with `INTERNAL_TIMEOUT`; a later reply is dropped */
  call(name: string, args: readonly unknown[], timeout?: number): Promise<unknown>
  /** Sends the messages so far without a wait for the end of the turn. */
  flush(): void
  /** Calls a function without a reply. It runs before the other end gets any later message. */
  notify(name: string, args: readonly unknown[]): void
  /** Rejects all calls without a reply, because the other end has closed. */
  rejectAll(reason: Error): void
}

interface PendingCall {
  resolve(value: unknown): void
  reject(error: Error): void
  readonly deadline: NodeJS.Timeout
}

const CALL_TIMEOUT_MS = 30_000

/**
 * Maximum number of messages that are processed in one turn of the event loop. Each may write a reply to a client, so
 * more of them would delay other work. A count, because `yieldTurn` would make this synchronous loop asynchronous.
 */
const MESSAGES_PER_TURN = 8

/**
 * Sends calls and replies over a message port. A call without a handler, or with a handler that fails, rejects at the
 * caller. A `Problem` arrives as the same `Problem`, and a failed read of LevelDB as the `Problem` for it. Any other
 * error arrives as an `Error` with the same stack.
 * @param onNoticeFault called with the error of a call of `notify`
 */
export function createChannel(
  port: Port,
  handlers: ReadonlyMap<string, (...args: any[]) => unknown>,
  onNoticeFault: (error: unknown) => void = () => {},
): Channel {
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
    const cause = new Error(`no response to "${name}" within ${timeout} ms`)
    take(id)?.reject(commonErrors.INTERNAL_TIMEOUT(undefined, { cause }))
  }

  async function handleCall({ id, name, args, trace }: ChannelMessage & { kind: 'call' }) {
    try {
      const handler = handlers.get(name)
      if (!handler) throw new Error(`no handler for "${name}"`)
      const value = await runInTrace(trace, () => handler(...args))
      if (id !== NOTICE_ID) outbox.add({ kind: 'reply', id, value })
    } catch (error) {
      fail(id, error)
    }
  }

  const fail = (id: number, error: unknown) =>
    outbox.add({ kind: 'reply', id, error: toWireError(toReadProblem(error) ?? error) })

  const outbox = createOutbox(port, (message, error) => {
    // A message that cannot be cloned was not sent.
    if (message.kind === 'call') take(message.id)?.reject(error)
    else fail(message.id, error)
  })

  /**
   * Returns the step that processes a message. For a reply, ends the timeout of its call at once: the reply is in time
   * even if the step runs some turns later.
   */
  function toStep(message: ChannelMessage): () => void {
    if (message.kind === 'call') return () => void handleCall(message)
    const caller = take(message.id)
    const { error, value } = message
    if (message.id === NOTICE_ID && error) return () => onNoticeFault(parseWireError(error))
    return () => (error ? caller?.reject(parseWireError(error)) : caller?.resolve(value))
  }

  const turns = new TurnQueue()
  port.on('message', (messages: readonly ChannelMessage[]) => turns.add(messages.map(toStep)))

  return {
    call(name, args, timeout = CALL_TIMEOUT_MS) {
      if (closeReason) return Promise.reject(closeReason)
      const id = ++lastId
      return new Promise((resolve, reject) => {
        // If this thread was busy, the reply may have arrived meanwhile: `setImmediate` lets it be read first.
        const deadline = setTimeout(() => setImmediate(expire, id, name, timeout), timeout).unref()
        pendingCalls.set(id, { resolve, reject, deadline })
        outbox.add({ kind: 'call', id, name, args, trace: getCurrentTrace() })
      })
    },
    flush: () => outbox.flushNow(),
    notify: (name, args) => outbox.add({ kind: 'call', id: NOTICE_ID, name, args, trace: getCurrentTrace() }),
    rejectAll(reason) {
      closeReason = reason
      for (const id of pendingCalls.keys()) take(id)!.reject(reason)
    },
  }
}

/**
 * Creates the batcher that sends all messages of one turn of the event loop as one. A separate message would cost 40 us,
 * the same as the rest of a call.
 * @param onRefused is called with a message that cannot be cloned
 */
function createOutbox(port: Port, onRefused: (message: ChannelMessage, error: Error) => void): Batcher<ChannelMessage> {
  return new Batcher((messages) => {
    try {
      port.postMessage(messages)
    } catch {
      for (const message of messages) sendAlone(message)
    }
  })

  function sendAlone(message: ChannelMessage): void {
    try {
      port.postMessage([message])
    } catch (error) {
      onRefused(message, error as Error)
    }
  }
}

/** Runs steps in order, a limited number of them in each turn of the event loop. */
class TurnQueue {
  #steps: (() => void)[] = []
  /** Number of completed steps. */
  #done = 0

  add(steps: readonly (() => void)[]): void {
    const isIdle = this.#steps.length === 0
    for (const step of steps) this.#steps.push(step)
    if (isIdle) this.#runTurn()
  }

  readonly #runTurn = (): void => {
    const end = Math.min(this.#done + MESSAGES_PER_TURN, this.#steps.length)
    while (this.#done < end) this.#steps[this.#done++]!()
    if (this.#done < this.#steps.length) return void setImmediate(this.#runTurn)
    this.#steps = []
    this.#done = 0
  }
}

/** Creates a thread's end of its connection to main. */
export function createBus(port: Port): Bus<Calls, Calls> {
  const handlers = new Map<string, (...args: any[]) => unknown>()
  const channel = createChannel(port, handlers)
  const withTimeout = (timeout?: number): Bus<Calls, Calls> => ({
    call: (name, ...args) => channel.call(name, args, timeout) as never,
    on: (name, handler) => void handlers.set(name, handler),
    flush: channel.flush,
    withTimeout,
  })
  return withTimeout()
}
