import { retry } from '../../src/async/retry.ts'
import { getRetryDelay, isPermanent, ServiceError } from '../../src/errors/service-error.ts'

const MAX_PARALLEL = 20

/**
 * Sends the request of each item, at most 20 at a time. A request that a busy service refuses is repeated after its
 * `Retry-After`: a service on a busy machine may refuse a burst of requests.
 * @throws any other error of a request
 */
export async function sendPatiently<T>(items: Iterable<T>, send: (item: T) => Promise<unknown>): Promise<void> {
  const rest = items[Symbol.iterator]()
  async function sendNext(): Promise<void> {
    for (let next = rest.next(); !next.done; next = rest.next()) await sendOne(() => send(next.value as T))
  }
  await Promise.all(Array.from({ length: MAX_PARALLEL }, sendNext))
}

async function sendOne(send: () => Promise<unknown>): Promise<void> {
  let delay = 0
  await retry(send, {
    signal: new AbortController().signal,
    delays: { next: () => delay },
    onFault(error) {
      if (!(error instanceof ServiceError) || isPermanent(error)) throw error
      delay = getRetryDelay(error, 0)
    },
  })
}
