/** Puts values where others wait for them. */
export interface Broadcaster {
  /** Brings a value to every stream of a topic. Resolves with its event's id. @throws BroadcastError */
  put(topic: string, value: string): Promise<string>
}

/** The broadcaster refused: `code` is that of its problem. */
export class BroadcastError extends Error {
  readonly code: string
  readonly status: number

  constructor(code: string, status: number, message: string) {
    super(message)
    this.name = 'BroadcastError'
    this.code = code
    this.status = status
  }
}

export interface BroadcasterOptions {
  /** Needed where the broadcaster was started with an `API_TOKEN`. */
  readonly token?: string
  /** A put may take (ms). */
  readonly timeout?: number
}

/** A client for the broadcaster at `url`. */
export function createBroadcaster(url: string, { token, timeout = 5_000 }: BroadcasterOptions = {}): Broadcaster {
  const headers = { 'content-type': 'text/plain', ...(token && { authorization: `Bearer ${token}` }) }
  return {
    async put(topic, value) {
      const target = new URL('/put', url)
      target.searchParams.set('topic', topic)
      const reply = await fetch(target, { method: 'POST', headers, body: value, signal: AbortSignal.timeout(timeout) })
      const text = await reply.text()
      if (reply.ok) return reply.headers.get('event-id')!
      const problem = reply.headers.get('content-type')?.includes('json') ? JSON.parse(text) : {}
      throw new BroadcastError(
        problem.code ?? 'UNKNOWN',
        reply.status,
        problem.detail ?? problem.title ?? reply.statusText,
      )
    },
  }
}
