import type { FastifyInstance, RouteOptions } from 'fastify'
import fp from './shared-plugin.ts'

/** What is said of the whole service. */
export interface ApiDescription {
  readonly title: string
  readonly description: string
  /** Who gives what the replies are made of, where that is not the service itself; `stand-in`: it is invented. */
  readonly source?: (() => string) | undefined
}

/**
 * `GET /openapi.json` and, for people, `GET /docs`: made from the routes' schemas by an app of their own that never
 * listens, when they are first asked for. A thread that nobody asks is 5 MB smaller and ready 60 ms sooner.
 */
export const openApi = fp(async (app: FastifyInstance, apiDescription: ApiDescription) => {
  const routes: RouteOptions[] = []
  let documentation: Promise<FastifyInstance> | undefined
  const getDocumentation = () => (documentation ??= createDocument(routes, apiDescription))
  app.addHook('onRoute', (route) => void routes.push(route))
  app.addHook('onClose', async () => (await documentation)?.close())

  const hidden = { schema: { hide: true } }
  app.get('/openapi.json', hidden, async () => (await getDocumentation()).swagger())
  for (const url of ['/docs', '/docs/*']) {
    app.get(url, hidden, async (request, reply) => {
      const page = await (await getDocumentation()).inject({ url: request.url })
      return reply.code(page.statusCode).headers(page.headers).send(page.rawPayload)
    })
  }
})

async function createDocument(
  routes: readonly RouteOptions[],
  apiDescription: ApiDescription,
): Promise<FastifyInstance> {
  const { createDocumentation } = await import('./api-documentation.ts')
  return createDocumentation(routes, apiDescription)
}

/** Marks a route for which no body is as good as an empty one. */
export const OPTIONAL_BODY = 'x-optional-body'

/** Spread into the schema of such a route. */
export const optionalBody = { [OPTIONAL_BODY]: true } as const
