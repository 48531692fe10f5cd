import type { FastifyInstance, RouteOptions } from 'fastify'
import fp from './plugin.ts'

/** What is said of the whole service. */
export interface Described {
  readonly title: string
  readonly description: string
  /** Who gives what the replies are made of, where that is not the service itself; `stand-in`: it is invented. */
  readonly source?: (() => string) | undefined
}

/**
 * `GET /openapi.json` and, for people, `GET /docs`: made from the routes' schemas by an app of their own that never
 * listens, when they are first asked for. A thread that nobody asks is 5 MB smaller and ready 60 ms sooner.
 */
export const openApi = fp(async (app: FastifyInstance, described: Described) => {
  const routes: RouteOptions[] = []
  let documented: Promise<FastifyInstance> | undefined
  const documentation = () => (documented ??= document(routes, described))
  app.addHook('onRoute', (route) => void routes.push(route))
  app.addHook('onClose', async () => (await documented)?.close())

  const hidden = { schema: { hide: true } }
  app.get('/openapi.json', hidden, async () => (await documentation()).swagger())
  for (const url of ['/docs', '/docs/*']) {
    app.get(url, hidden, async (request, reply) => {
      const page = await (await documentation()).inject({ url: request.url })
      return reply.code(page.statusCode).headers(page.headers).send(page.rawPayload)
    })
  }
})

async function document(routes: readonly RouteOptions[], described: Described): Promise<FastifyInstance> {
  const { createDocumentation } = await import('./documentation.ts')
  return createDocumentation(routes, described)
}

/** Marks a route for which no body is as good as an empty one. */
export const OPTIONAL_BODY = 'x-optional-body'

/** Spread into the schema of such a route. */
export const optionalBody = { [OPTIONAL_BODY]: true } as const
