import { Session } from 'node:inspector/promises'
import { setImmediate as turn } from 'node:timers/promises'

/** Calls a method of the inspector of a thread. Rejects if the thread has exited. */
export type InspectorPost = (method: string, params?: object) => Promise<any>

/** Returns the inspectors of the main thread (first) and of its current and future threads, by name. */
export function inspectThreads(): ReadonlyMap<string, InspectorPost> {
  const session = new Session()
  session.connect()
  const post: InspectorPost = (method, params) => session.post(method as never, params as never)
  const threads = new Map([['main', post]])
  const workers = new Map<string, ReturnType<typeof createThreadPost> & { readonly name: string }>()
  const on = (event: string, then: (params: any) => void) =>
    session.on(`NodeWorker.${event}` as never, (({ params }: any) => then(params)) as never)

  on('attachedToWorker', ({ sessionId, workerInfo }) => {
    const worker = createThreadPost(post, sessionId)
    const name = workerInfo.title.replace(/^\[worker \d+\] ?/, '')
    workers.set(sessionId, { ...worker, name })
    threads.set(name, worker.post)
  })
  on('receivedMessageFromWorker', ({ sessionId, message }) => workers.get(sessionId)?.onReply(JSON.parse(message)))
  on('detachedFromWorker', ({ sessionId }) => {
    const detached = workers.get(sessionId)
    workers.delete(sessionId)
    // A new thread may have the same name already.
    if (detached && threads.get(detached.name) === detached.post) threads.delete(detached.name)
    detached?.end()
  })
  void post('NodeWorker.enable', { waitForDebuggerOnStart: false })
  return threads
}

/** Creates calls of the inspector of a thread, which go as text through the inspector of the main thread. */
function createThreadPost(main: InspectorPost, sessionId: string) {
  const pendingReplies = new Map<number, PromiseWithResolvers<any>>()
  let last = 0
  return {
    async post(method: string, params?: object) {
      const id = ++last
      const reply = Promise.withResolvers<any>()
      pendingReplies.set(id, reply)
      await main('NodeWorker.sendMessageToWorker', { sessionId, message: JSON.stringify({ id, method, params }) })
      return reply.promise
    },
    onReply({ id, result, error }: { id: number; result?: unknown; error?: { message: string } }) {
      const reply = pendingReplies.get(id)
      pendingReplies.delete(id)
      if (error) reply?.reject(new Error(error.message))
      else reply?.resolve(result)
    },
    end() {
      for (const reply of pendingReplies.values()) reply.reject(new Error('the thread has exited'))
    },
  }
}

/** Memory that a thread holds after a collection (bytes): its heap and its buffers. */
export interface ThreadMemory {
  readonly heap: number
  readonly buffers: number
}

/** Number of garbage collections. Finalizers run between two of them and release memory for the next one. */
const GC_RUNS = 3

/**
 * Collects the garbage of all threads and returns the memory of each, in the order of the threads. Buffers that threads
 * share are not counted.
 */
export async function collectAll(threads: ReadonlyMap<string, InspectorPost>): Promise<ThreadMemory[]> {
  const posts = [...threads.values()]
  for (let i = 0; i < GC_RUNS; i++) {
    for (const post of posts) await post('HeapProfiler.collectGarbage')
    await turn()
  }
  return Promise.all(
    posts.map(async (post) => {
      const { usedSize, backingStorageSize } = await post('Runtime.getHeapUsage')
      return { heap: usedSize, buffers: backingStorageSize }
    }),
  )
}
