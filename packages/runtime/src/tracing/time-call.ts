import { getTraceHeaders } from '../trace.ts'
import type { UpstreamTimer } from './upstream-timer.ts'

/**
 * Sends a request to another service with the ids of the current request, and measures it.
 * @param upstream name of that service
 * @param getStatus returns the status of the reply
 */
export async function timeCall<T>(
  startTimer: UpstreamTimer | undefined,
  upstream: string,
  send: (headers: Record<string, string>) => Promise<T>,
  getStatus: (reply: T) => number,
): Promise<T> {
  const call = startTimer?.(upstream)
  try {
    const reply = await send(call?.headers ?? getTraceHeaders())
    call?.end(getStatus(reply))
    return reply
  } catch (error) {
    call?.end('broken')
    throw error
  }
}
