import fastifySwagger from '@fastify/swagger'
import fastifySwaggerUi from '@fastify/swagger-ui'
import Fastify, { type FastifyInstance, type RouteOptions } from 'fastify'
import { nameSchemas } from './named-schemas.ts'
import { OPTIONAL_BODY, type ApiDescription } from './api-description.ts'
import { VERSION } from '../../version.ts'

/**
 * Creates an app that serves only the description of the given routes: `app.swagger()` and `/docs`. It never runs their
 * handlers.
 */
export async function createDocumentation(
  routes: readonly RouteOptions[],
  { title, description }: ApiDescription,
): Promise<FastifyInstance> {
  const app = Fastify({ exposeHeadRoutes: false })
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => JSON.stringify)
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title, description, version: VERSION.version },
      components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    },
    transformObject(document) {
      if (!('openapiObject' in document)) return document.swaggerObject
      makeBodiesOptional(document.openapiObject.paths ?? {})
      nameSchemas(document.openapiObject)
      return document.openapiObject
    },
  })
  await app.register(fastifySwaggerUi, { routePrefix: '/docs', theme: { title } })
  for (const { method, url, schema, config } of routes) {
    if (method !== 'HEAD' && !(schema as { hide?: boolean } | undefined)?.hide) {
      // The settings decide whether a token is required. So the document allows requests with and without one. The page
      // sends the token that its reader enters.
      const security: Record<string, string[]>[] = config?.access === 'open' ? [] : [{ token: [] }, {}]
      app.route({ method, url, schema: { security, ...schema }, handler: async () => undefined })
    }
  }
  await app.ready()
  return app
}

/** Marks the bodies of routes with `optionalBody` as optional, because the plugin marks every body as required. */
function makeBodiesOptional(paths: Record<string, unknown>): void {
  for (const operations of Object.values(paths)) {
    for (const operation of Object.values(operations as Record<string, { requestBody?: { required?: boolean } }>)) {
      if (operation.requestBody && OPTIONAL_BODY in operation) operation.requestBody.required = false
    }
  }
}
