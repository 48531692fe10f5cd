import { IDS_PER_CALL } from '../core/pace.ts'
import { joinAnswers } from './call.ts'
import type { Answer, ClientOptions, VideoClient } from './client.ts'
import { createUndiciCall } from './undici-pool.ts'

interface Waiting {
  readonly id: string
  resolve(answer: Answer): void
  reject(fault: unknown): void
}

/**
 * Gathers what is asked for within one turn of the event loop and asks for 50 videos a call, because a call costs one
 * unit of quota whatever it asks for. A video that is being asked for is not asked for twice.
 */
export function createBatchingClient(options: ClientOptions): VideoClient {
  const { call, close } = createUndiciCall(options, IDS_PER_CALL)
  const inFlight = new Map<string, Promise<Answer>>()
  let gathering: Waiting[] = []

  function ask(id: string): Promise<Answer> {
    const answer = new Promise<Answer>((resolve, reject) => {
      if (gathering.length === 0) setImmediate(flush)
      gathering.push({ id, resolve, reject })
    })
    inFlight.set(id, answer)
    return answer
  }

  function flush(): void {
    const waiting = gathering
    gathering = []
    for (let i = 0; i < waiting.length; i += IDS_PER_CALL) void send(waiting.slice(i, i + IDS_PER_CALL))
  }

  async function send(batch: readonly Waiting[]): Promise<void> {
    try {
      const { found, failed, fault } = await call(batch.map(({ id }) => id))
      const byId = new Map(found.map((numbers) => [numbers.id, numbers]))
      for (const { id, resolve } of batch) {
        const numbers = byId.get(id)
        if (failed.includes(id)) resolve({ found: [], failed: [id], ...(fault && { fault }) })
        else resolve({ found: numbers ? [numbers] : [], failed: [] })
      }
    } catch (fault) {
      for (const { reject } of batch) reject(fault)
    } finally {
      for (const { id } of batch) inFlight.delete(id)
    }
  }

  return {
    idsPerCall: IDS_PER_CALL,
    call,
    fetch: (ids) => joinAnswers(ids.map((id) => [[id], inFlight.get(id) ?? ask(id)])),
    close,
  }
}
