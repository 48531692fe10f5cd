import type { FastifyInstance, RouteOptions } from 'fastify'
import shared from './shared-plugin.ts'

/** Description of a service, in its OpenAPI document and on its page. */
export interface ApiDescription {
  readonly title: string
  readonly description: string
  /** Returns the origin of the data, if that is another service. `stand-in` means that the data is invented. */
  readonly source?: (() => string) | undefined
}

/**
 * Serves `GET /openapi.json`, and `GET /docs` for people. On the first request, a separate app that never listens
 * builds both from the routes' schemas. A thread without such a request is 5 MB smaller and ready 60 ms sooner.
 */
export const openApi = shared(async (app: FastifyInstance, apiDescription: ApiDescription) => {
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

/** Marks the schema of a route that accepts a missing body like an empty one. */
export const OPTIONAL_BODY = 'x-optional-body'

/** Spread this into the schema of a route that accepts a missing body. */
export const optionalBody = { [OPTIONAL_BODY]: true } as const
