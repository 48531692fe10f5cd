import type { App } from '@influencer-stats/runtime/http'
import { buildOpenReplies } from '@influencer-stats/runtime/problem-schemas'
import type { Problem } from '@influencer-stats/runtime/problems'
import type { CampaignReader } from '../upstream/campaign-reader.ts'
import { errors } from '../errors.ts'
import type { ShareLinks } from '../share-links.ts'
import type { ServiceProxy } from '../upstream/service-proxy.ts'
import { withTimeout, type ServiceMonitor } from '../upstream/service-monitor.ts'

interface SharedOptions {
  readonly links: ShareLinks
  readonly campaigns: CampaignReader
  readonly proxy: ServiceProxy
  readonly monitor: ServiceMonitor
  readonly token: string | undefined
}

/** The data that a link gives access to, and its path below the collection. */
const READS: Readonly<Record<string, string>> = {
  history: '/stats/history',
  // Without the numbers of each time, which may have notes.
  posts: '/posts',
  reported: '/reported/history',
  results: '/results',
  stats: '/stats',
  videos: '/videos',
}

/** The fields of a campaign that a link shows: neither its cost nor its tags. */
const SHOWN_FIELDS: ReadonlySet<string> = new Set([
  'id',
  'version',
  'created',
  'name',
  'from',
  'to',
  'videos',
  'stats',
  'change',
])

/**
 * Registers the routes of one campaign for clients that have a link to it. Every reply with data of a campaign, and every
 * chunk of a stream, is confirmed to belong to the campaign of the link. The deletion of the campaign ends the link. A
 * later campaign with the same id is not shown.
 */
export function registerSharedRoutes(app: App, { links, campaigns, proxy, monitor, token }: SharedOptions): void {
  const schema = {
    hide: true,
    response: buildOpenReplies(
      errors.LINK_UNKNOWN,
      errors.LINK_EXPIRED,
      errors.SERVICE_UNREACHABLE,
      errors.SERVICE_SLOW,
    ),
  }
  const options = { config: { access: 'host' as const }, exposeHeadRoute: false, schema }
  const getQuery = (url: string) => (url.includes('?') ? url.slice(url.indexOf('?')) : '')
  const readLink = (request: { params: unknown }) => links.read((request.params as { token: string }).token)
  const toPath = (campaign: string) => `/collections/${encodeURIComponent(campaign)}`

  app.get('/shared/:token/campaign', options, async (request, reply) => {
    const found = await campaigns.readShared(readLink(request), '?include=stats,change')
    const shown = Object.entries(found).filter(([name]) => SHOWN_FIELDS.has(name))
    void reply.headers({ 'cache-control': 'no-store', 'content-type': 'application/json; charset=utf-8' })
    return reply.send(JSON.stringify(Object.fromEntries(shown)) as never)
  })

  for (const [name, below] of Object.entries(READS)) {
    app.get(`/shared/:token/${name}`, options, async (request, reply) => {
      const link = readLink(request)
      const path = toPath(link.campaign) + below + getQuery(request.url)
      const { headers } = request.raw
      const confirm = () => campaigns.readShared(link)
      return proxy.forward(reply as never, 'stats', { method: 'GET', path, headers, token }, { confirm }) as never
    })
  }

  app.get('/shared/:token/status', options, async (request, reply) => {
    const link = readLink(request)
    const ended = campaigns.readShared(link).then(
      () => undefined,
      (error: Problem) => (error.code === 'LINK_EXPIRED' ? error : undefined),
    )
    // A frozen stats must not delay the reply: the page would report the dashboard itself as unavailable.
    const [status, problem] = await Promise.all([monitor.getPublicStatus(), withTimeout(ended)])
    // An open page learns here that its campaign was deleted.
    if (problem) throw problem
    void reply.header('cache-control', 'no-store')
    return status as never
  })

  app.get('/shared/:token/wait', options, async (request, reply) => {
    const link = readLink(request)
    const { lastEventId } = request.query as { lastEventId?: unknown }
    const query = new URLSearchParams({ topic: `collections/${link.campaign}`, named: '1', cid: 'link' })
    if (typeof lastEventId === 'string') query.set('lastEventId', lastEventId)
    const { ended, close } = links.follow(link)
    reply.raw.once('close', close)
    const { headers } = request.raw
    const upstreamRequest = { method: 'GET', path: `/wait?${query}`, headers, token }
    const confirm = () => campaigns.readShared(link)
    return proxy.forward(reply as never, 'sse', upstreamRequest, { ended, confirm }) as never
  })
}
