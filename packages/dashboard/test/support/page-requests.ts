import type { Route } from 'playwright-core'
import { openPage } from './browser.ts'
import { UNREACHABLE_URL } from './fake-service.ts'
import { startDashboard } from './start-dashboard.ts'

/** A reply, or `failure`: the connection is lost. */
export type PageReply = { readonly status: number; readonly body: unknown } | 'failure'

export const ok = (body: unknown): PageReply => ({ status: 200, body })
export const refusal = (status: number, code: string): PageReply => ({ status, body: { code, status } })

/** A request of the page that waits for its reply. */
export interface HeldRequest {
  readonly url: URL
  reply(reply: PageReply): Promise<void>
}

/** Replaces the stream of the page: it opens, and the test dispatches its events. */
const FAKE_STREAM = `globalThis.EventSource = class extends EventTarget {
  static CLOSED = 2
  readyState = 1
  constructor() {
    super()
    globalThis.fakeStream = this
    setTimeout(() => this.dispatchEvent(new Event('open')))
  }
  close() {}
}`

/** Long timers of the page end sooner: time limits and repetitions, but no animations (ms). */
const SHORT_TIMERS = `{
  const { setTimeout } = globalThis
  globalThis.setTimeout = (run, ms, ...rest) => setTimeout(run, ms >= 10_000 ? ms / 20 : ms, ...rest)
}`

const SESSION = { needed: false, role: 'editor', services: ['stats', 'sse', 'prices'], nodes: [] }

function send(route: Route, reply: PageReply): Promise<void> {
  // A page that was closed needs no reply.
  const sent =
    reply === 'failure'
      ? route.abort()
      : route.fulfill({ status: reply.status, body: JSON.stringify(reply.body), contentType: 'application/json' })
  return sent.catch(() => {})
}

/** Opens pages whose requests for data are answered by the test. Paths begin with those of `replies`. */
export async function openWithReplies(path: string, replies: Record<string, PageReply>, hasShortTimers = false) {
  const { url } = await startDashboard(UNREACHABLE_URL)
  const page = await openPage()
  const held = new Map<string, { waiting: HeldRequest[]; readonly taken: PromiseWithResolvers<HeldRequest>[] }>()
  const all: Record<string, PageReply> = {
    '/session': ok(SESSION),
    '/status': ok({ at: new Date().toISOString(), services: [] }),
    ...replies,
  }
  await page.addInitScript(FAKE_STREAM)
  if (hasShortTimers) await page.addInitScript(SHORT_TIMERS)
  await page.route(
    ({ pathname }) => /^\/(session|status|links|measured|api\/.+|shared\/[^/]+\/.+)$/.test(pathname),
    (route) => {
      const requested = new URL(route.request().url())
      const name = requested.pathname.replace(/^\/shared\/[^/]+|^\/api\/[^/]+/, '')
      const queue = held.get(name)
      if (!queue) return send(route, all[name] ?? refusal(404, 'NOT_FOUND'))
      const request = { url: requested, reply: (reply: PageReply) => send(route, reply) }
      const taker = queue.taken.shift()
      if (taker) taker.resolve(request)
      else queue.waiting.push(request)
    },
  )
  /** From now on, requests for this path wait. @returns a function that resolves with the next one */
  function hold(name: string): () => Promise<HeldRequest> {
    const queue = { waiting: [] as HeldRequest[], taken: [] as PromiseWithResolvers<HeldRequest>[] }
    held.set(name, queue)
    return () => {
      const next = queue.waiting.shift()
      if (next) return Promise.resolve(next)
      const taker = Promise.withResolvers<HeldRequest>()
      queue.taken.push(taker)
      return taker.promise
    }
  }
  return {
    page,
    replies: all,
    hold,
    /** Answers the requests that wait, and all later ones, with the reply of `replies`. */
    async release(name: string): Promise<void> {
      const { waiting } = held.get(name)!
      held.delete(name)
      await Promise.all(waiting.map((request) => request.reply(all[name]!)))
    },
    open: () => page.goto(url + path),
    /** Makes the screens read their values again. */
    reload: () => page.evaluate(`fakeStream.dispatchEvent(new MessageEvent('gap', { lastEventId: '1' }))`),
    /** The stream ends, and does not connect again. */
    endStream: () => page.evaluate(`fakeStream.dispatchEvent(new Event('error'))`),
  }
}
