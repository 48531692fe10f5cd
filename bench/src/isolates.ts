import { Session } from 'node:inspector/promises'
import { setImmediate as turn } from 'node:timers/promises'

/** What a thread holds after a collection (bytes). */
export interface Isolate {
  readonly heap: number
  /** Buffers of its own; those it shares count nowhere here. */
  readonly buffers: number
}

type Post = (method: string) => Promise<any>
/** Collections, each with a turn of the loop, in which finalisers run: what they let go of goes with the next. */
const COLLECTIONS = 3

/** Collects the garbage of main and of all its threads, present and to come. Threads are reached through the inspector. */
export function createIsolates() {
  const session = new Session()
  session.connect()
  const threads = new Map<string, Post>()
  session.on(
    'NodeWorker.attachedToWorker' as never,
    (({ params }: any) => {
      threads.set(params.sessionId, throughMain(session, params.sessionId))
    }) as never,
  )
  session.on(
    'NodeWorker.detachedFromWorker' as never,
    (({ params }: any) => {
      threads.delete(params.sessionId)
    }) as never,
  )
  void session.post('NodeWorker.enable' as never, { waitForDebuggerOnStart: false } as never)

  return {
    /** Main first. */
    async collect(): Promise<Isolate[]> {
      const posts: Post[] = [(method) => session.post(method as never), ...threads.values()]
      for (let i = 0; i < COLLECTIONS; i++) {
        for (const post of posts) await post('HeapProfiler.collectGarbage')
        await turn()
      }
      const found: Isolate[] = []
      for (const post of posts) {
        const { usedSize, backingStorageSize } = await post('Runtime.getHeapUsage')
        found.push({ heap: usedSize, buffers: backingStorageSize })
      }
      return found
    },
  }
}

/** Calls of a thread's inspector travel as texts through that of main. */
function throughMain(session: Session, sessionId: string): Post {
  const waiting = new Map<number, PromiseWithResolvers<any>>()
  let last = 0
  session.on(
    'NodeWorker.receivedMessageFromWorker' as never,
    (({ params }: any) => {
      if (params.sessionId !== sessionId) return
      const { id, result, error } = JSON.parse(params.message)
      const answer = waiting.get(id)
      waiting.delete(id)
      if (error) answer?.reject(new Error(error.message))
      else answer?.resolve(result)
    }) as never,
  )
  return async (method) => {
    const answer = Promise.withResolvers<any>()
    waiting.set(++last, answer)
    const message = JSON.stringify({ id: last, method })
    await session.post('NodeWorker.sendMessageToWorker' as never, { sessionId, message } as never)
    return answer.promise
  }
}
