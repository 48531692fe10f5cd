import type { App } from '@influencer-stats/runtime/http'
import { openReplies } from '@influencer-stats/runtime/replies'
import { errors } from '../errors.ts'
import type { Links } from '../links.ts'
import type { Proxy } from '../proxy.ts'
import { textOf } from '../upstream.ts'

const LIMIT = 4_194_304

interface SharedOptions {
  readonly links: Links
  readonly proxy: Proxy
  readonly token: string | undefined
}

/** What there is to see by a link, and the path below the collection that it is read from. */
const READS: Readonly<Record<string, string>> = { history: '/stats/history', stats: '/stats', videos: '/videos' }

/** One campaign, for whoever has a link to it: its numbers, and neither what it costs nor how it is filed. */
export function sharedRoutes(app: App, { links, proxy, token }: SharedOptions): void {
  const schema = { hide: true, response: openReplies(errors.LINK_UNKNOWN, errors.LINK_EXPIRED) }
  const options = { config: { access: 'host' as const }, exposeHeadRoute: false, schema }
  const queryOf = (url: string) => (url.includes('?') ? url.slice(url.indexOf('?')) : '')
  const linkOf = (request: { params: unknown }) => links.read((request.params as { token: string }).token)
  const pathOf = (campaign: string) => `/collections/${encodeURIComponent(campaign)}`

  app.get('/shared/:token/campaign', options, async (request, reply) => {
    const { campaign } = linkOf(request)
    const path = `${pathOf(campaign)}?include=stats,change`
    const answer = await proxy.ask('stats', { method: 'GET', path, headers: {}, token })
    const text = await textOf(answer, LIMIT)
    void reply
      .code(answer.status)
      .headers({ 'cache-control': 'no-store', 'content-type': answer.headers['content-type'] })
    if (answer.status !== 200) return reply.send(text as never)
    const { cost: _cost, currency: _currency, costs: _costs, tags: _tags, ...shown } = JSON.parse(text)
    return reply.send(JSON.stringify(shown) as never)
  })

  for (const [name, below] of Object.entries(READS)) {
    app.get(`/shared/:token/${name}`, options, async (request, reply) => {
      const path = pathOf(linkOf(request).campaign) + below + queryOf(request.url)
      const { headers } = request.raw
      return proxy.forward(reply as never, 'stats', { method: 'GET', path, headers, token }) as never
    })
  }

  app.get('/shared/:token/wait', options, async (request, reply) => {
    const link = linkOf(request)
    const { lastEventId } = request.query as { lastEventId?: unknown }
    const query = new URLSearchParams({ topic: `collections/${link.campaign}`, named: '1', cid: 'link' })
    if (typeof lastEventId === 'string') query.set('lastEventId', lastEventId)
    const { ended, close } = links.follow(link)
    reply.raw.once('close', close)
    const { headers } = request.raw
    const asked = { method: 'GET', path: `/wait?${query}`, headers, token }
    return proxy.forward(reply as never, 'sse', asked, ended) as never
  })
}
