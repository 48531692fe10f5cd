import { createPublisherClient } from '@influencer-stats/sse/publisher-client'
import { getSeconds } from '../write-ledger.ts'
import type { TestedService } from './tested-service.ts'

const TOPICS = 4
const END = 'end'
const STREAM_TIMEOUT_MS = 10_000

interface AcknowledgedPut {
  readonly topic: string
  readonly value: number
  readonly id: string
  /** Time of the acknowledgement (seconds). */
  readonly at: number
}

const getSeq = (id: string) => Number(id.slice(id.lastIndexOf('-') + 1))

/**
 * The service sse with a history on disk: a key is a topic, its number is the topic's current value. sse must report
 * lost values to a client that reconnects, and must never use an id twice.
 */
export function createSseService(): TestedService {
  const puts: AcknowledgedPut[] = []
  const topicsOf = (writer: number) => Array.from({ length: TOPICS }, (_, i) => `${writer}/${i}`)
  const subject: TestedService = {
    service: 'sse',
    settings: { history: 'level' },
    writers: 16,
    deletes: false,
    units: (writer) => topicsOf(writer).map((topic) => ({ keys: [topic] })),
    connect(url) {
      const broadcaster = createPublisherClient(url, { timeout: 60_000 })
      return {
        async write(contents) {
          for (const [topic, value] of contents) {
            const id = await broadcaster.put(topic, String(value))
            puts.push({ topic, value: value!, id, at: getSeconds() })
          }
        },
        async read(at = -Infinity) {
          const found = new Map<string, number>()
          for (let writer = 0; writer < subject.writers; writer++) {
            for (const topic of topicsOf(writer)) {
              const reply = await fetch(`${url}/value?topic=${encodeURIComponent(topic)}`)
              if (reply.status === 200) found.set(topic, Number(await reply.text()))
            }
          }
          const acknowledged = puts.filter((put) => put.at <= at)
          if (acknowledged.length > 0) await checkHistory(acknowledged)
          return found
        },
        close: async () => broadcaster.close(),
      }

      /** Checks that no id is used twice, and that a client that resumes gets all later values or a gap. */
      async function checkHistory(acknowledged: readonly AcknowledgedPut[]): Promise<void> {
        const [from] = acknowledged.slice(acknowledged.length >> 1)
        const { topic } = from!
        // The last value has a separate topic, so that the topics of the writers stay unchanged.
        const end = `end ${getSeconds()}`
        const id = await broadcaster.put(END, end)
        const reused = acknowledged.find(
          (put) => put.id.split('-')[0] === id.split('-')[0] && getSeq(put.id) >= getSeq(id),
        )
        if (reused) throw new Error(`id ${id} follows ${reused.id}`)
        const query = `topic=${encodeURIComponent(topic)}&topic=${END}&lastEventId=${from!.id}`
        const events = await readEventsUntil(`${url}/wait?${query}`, end)
        if (events.includes('event: gap')) return
        const missing = acknowledged
          .filter((put) => put.topic === topic && getSeq(put.id) > getSeq(from!.id))
          .find(({ value }) => !events.includes(`data: ${value}\n`))
        if (missing)
          throw new Error(`a client that resumes after ${from!.id} gets no gap although ${missing.id} is lost`)
      }
    },
  }
  return subject
}

/** Reads a stream up to a value. @returns its text */
async function readEventsUntil(url: string, value: string): Promise<string> {
  const reply = await fetch(url, { signal: AbortSignal.timeout(STREAM_TIMEOUT_MS) })
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of reply.body!) {
    text += decoder.decode(chunk as Uint8Array, { stream: true })
    if (text.includes(`data: ${value}\n`)) return text
  }
  throw new Error(`the stream ended without ${value}: ${text.slice(-200)}`)
}
