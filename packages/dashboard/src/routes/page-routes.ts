import { commonErrors } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { buildOpenReplies } from '@influencer-stats/runtime/problem-schemas'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { SCREEN_FILES } from '../page/screens/screen-files.ts'
import { chooseLanguage, type Language } from '../page/texts/language.ts'
import type { Asset, Assets, ContentCoding, EncodedAsset } from '../assets/page-assets.ts'

/** Forbids inline scripts, all styles except the page's own, and requests to any other origin. */
const createPolicy = (styleHash: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src '${styleHash}'`,
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')

const PAGE_HEADERS = {
  'cache-control': 'no-cache',
  vary: 'accept-encoding, accept-language',
  // The address of a share link grants access, so no other site may receive it.
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
}

const IMMUTABLE_HEADERS = { 'cache-control': 'public, max-age=31536000, immutable' }

/** The best content coding that the client accepts: `br`, otherwise `gzip`, otherwise `identity`. */
export function selectCoding(accepted: string | undefined): ContentCoding {
  const accepts = (coding: string) =>
    new RegExp(`(^|[ ,])${coding}( *;q=(1|0?\\.\\d*[1-9]))?($|[ ,])`, 'i').test(accepted ?? '')
  return accepts('br') ? 'br' : accepts('gzip') ? 'gzip' : 'identity'
}

const encode = (request: FastifyRequest, asset: Asset) => asset.encode(selectCoding(request.headers['accept-encoding']))

async function send(request: FastifyRequest, reply: FastifyReply, asset: Asset, headers: Record<string, string>) {
  const encoded = await encode(request, asset)
  void reply.headers({ vary: 'accept-encoding', ...headers, etag: encoded.etag, 'x-content-type-options': 'nosniff' })
  const isCurrent = request.headers['if-none-match']
    ?.split(',')
    .some((tag) => tag.trim().replace(/^W\//, '') === encoded.etag)
  if (isCurrent) return reply.code(304).send()
  return sendBytes(reply, encoded)
}

function sendBytes(reply: FastifyReply, { coding, type, bytes }: EncodedAsset): FastifyReply {
  if (coding !== 'identity') void reply.header('content-encoding', coding)
  return reply.type(type).send(bytes)
}

const createHeaders = (assets: Assets) => ({
  ...PAGE_HEADERS,
  'content-security-policy': createPolicy(assets.styleHash),
})

/**
 * The language that the page will have, so that its texts are loaded at once. A page in another language, which its reader
 * chose, loads them a moment later.
 */
function selectLanguage(accepted: string | undefined): Language {
  const weighed = (accepted ?? '').split(',').map((one) => {
    const [locale, weight] = one.split(';q=') as [string, string?]
    return { locale: locale.trim(), weight: weight === undefined ? 1 : Number(weight) || 0 }
  })
  const preferred = weighed.sort((one, other) => other.weight - one.weight).map(({ locale }) => locale)
  return chooseLanguage(undefined, preferred).language
}

/** True if a browser opens an address: it accepts `text/html` by name. Programs rarely do; `*\/*` does not count. */
const acceptsPage = ({ method, headers: { accept = '' } }: FastifyRequest) =>
  (method === 'GET' || method === 'HEAD') && /(^|[ ,])text\/html *(;|,|$)/i.test(accept)

/** Sends browsers the page for an unknown path. The page states that the path does not exist. */
export function createNotFoundPage(assets: Assets) {
  const vary = 'accept, accept-encoding, accept-language'
  const headers = { ...createHeaders(assets), vary, 'x-content-type-options': 'nosniff' }
  async function sendPage(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const page = assets.findPage(undefined, selectLanguage(request.headers['accept-language']))
    return sendBytes(reply.code(404).headers(headers), await encode(request, page))
  }
  return (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> | undefined => {
    void reply.header('vary', vary)
    return acceptsPage(request) ? sendPage(request, reply) : undefined
  }
}

/** Registers the page and its files. They contain only public content. */
export function registerPageRoutes(app: App, assets: Assets): void {
  const headers = createHeaders(assets)
  const options = { config: { access: 'host' as const }, schema: { hide: true } }
  for (const [url, screen] of Object.entries(SCREEN_FILES))
    app.get(url, options, async (request, reply) => {
      const page = assets.findPage(screen, selectLanguage(request.headers['accept-language']))
      return send(request, reply as never, page, headers) as never
    })

  app.get(
    '/assets/:version/*',
    { config: { access: 'host' }, schema: { hide: true, response: buildOpenReplies(commonErrors.NOT_FOUND) } },
    async (request, reply) => {
      const { version, '*': path } = request.params as { version: string; '*': string }
      const asset = version === assets.version ? assets.find(path) : undefined
      if (!asset) throw commonErrors.NOT_FOUND()
      return send(request, reply as never, asset, IMMUTABLE_HEADERS) as never
    },
  )
}
