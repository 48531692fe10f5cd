import { Session } from 'node:inspector/promises'

/** Asks a thread's inspector. Rejects where the thread is gone. */
export type Post = (method: string, params?: object) => Promise<any>

/** The inspectors of main and of the threads that it starts, present and to come, by their names; main first. */
export function inspectThreads(): ReadonlyMap<string, Post> {
  const session = new Session()
  session.connect()
  const post: Post = (method, params) => session.post(method as never, params as never)
  const threads = new Map([['main', post]])
  const workers = new Map<string, ReturnType<typeof throughMain> & { readonly name: string }>()
  const on = (event: string, then: (params: any) => void) =>
    session.on(`NodeWorker.${event}` as never, (({ params }: any) => then(params)) as never)

  on('attachedToWorker', ({ sessionId, workerInfo }) => {
    const worker = throughMain(post, sessionId)
    const name = workerInfo.title.replace(/^\[worker \d+\] ?/, '')
    workers.set(sessionId, { ...worker, name })
    threads.set(name, worker.post)
  })
  on('receivedMessageFromWorker', ({ sessionId, message }) => workers.get(sessionId)?.answered(JSON.parse(message)))
  on('detachedFromWorker', ({ sessionId }) => {
    const gone = workers.get(sessionId)
    workers.delete(sessionId)
    // Another one may have its name by now.
    if (gone && threads.get(gone.name) === gone.post) threads.delete(gone.name)
    gone?.end()
  })
  void post('NodeWorker.enable', { waitForDebuggerOnStart: false })
  return threads
}

/** Calls of a thread's inspector travel as texts through that of main. */
function throughMain(main: Post, sessionId: string) {
  const waiting = new Map<number, PromiseWithResolvers<any>>()
  let last = 0
  return {
    async post(method: string, params?: object) {
      const id = ++last
      const answer = Promise.withResolvers<any>()
      waiting.set(id, answer)
      await main('NodeWorker.sendMessageToWorker', { sessionId, message: JSON.stringify({ id, method, params }) })
      return answer.promise
    },
    answered({ id, result, error }: { id: number; result?: unknown; error?: { message: string } }) {
      const answer = waiting.get(id)
      waiting.delete(id)
      if (error) answer?.reject(new Error(error.message))
      else answer?.resolve(result)
    },
    end() {
      for (const answer of waiting.values()) answer.reject(new Error('the thread is gone'))
    },
  }
}
