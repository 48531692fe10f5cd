import type { VideoNumbers } from '../core/numbers.ts'
import { IDS_PER_CALL } from '../core/pace.ts'
import { answerOf } from './call.ts'
import type { ClientOptions, VideoClient } from './client.ts'
import { createUndiciCall } from './undici-pool.ts'

type Found = Promise<VideoNumbers | undefined>

interface Waiting {
  readonly id: string
  resolve(numbers: VideoNumbers | undefined): void
  reject(fault: unknown): void
}

/**
 * Gathers what is asked for within one turn of the event loop and asks for 50 videos a call, because a call costs one
 * unit of quota whatever it asks for. A video that is being asked for is not asked for twice.
 */
export function createBatchingClient(options: ClientOptions): VideoClient {
  const { call, close } = createUndiciCall(options)
  const inFlight = new Map<string, Found>()
  let gathering: Waiting[] = []

  function ask(id: string): Found {
    const found: Found = new Promise((resolve, reject) => {
      if (gathering.length === 0) setImmediate(flush)
      gathering.push({ id, resolve, reject })
    })
    inFlight.set(id, found)
    return found
  }

  function flush(): void {
    const waiting = gathering
    gathering = []
    for (let i = 0; i < waiting.length; i += IDS_PER_CALL) void send(waiting.slice(i, i + IDS_PER_CALL))
  }

  async function send(batch: readonly Waiting[]): Promise<void> {
    try {
      const found = await call(batch.map(({ id }) => id))
      const byId = new Map(found.map((numbers) => [numbers.id, numbers]))
      for (const { id, resolve } of batch) resolve(byId.get(id))
    } catch (fault) {
      for (const { reject } of batch) reject(fault)
    } finally {
      for (const { id } of batch) inFlight.delete(id)
    }
  }

  return {
    idsPerCall: IDS_PER_CALL,
    call,
    fetch: (ids) => answerOf(ids.map((id) => [[id], (inFlight.get(id) ?? ask(id)).then((one) => [one])])),
    close,
  }
}
