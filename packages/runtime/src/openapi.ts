import fastifySwagger from '@fastify/swagger'
import fastifySwaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import fp from './plugin.ts'
import { VERSION } from './version.ts'

/** `GET /openapi.json` and, for people, `GET /docs`: made from the routes' schemas. */
export const openApi = fp(
  async (app: FastifyInstance, { title, description }: { title: string; description: string }) => {
    await app.register(fastifySwagger, {
      openapi: {
        openapi: '3.1.0',
        info: { title, description, version: VERSION.version },
        components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
      },
      transformObject(document) {
        if ('openapiObject' in document) loosenBodies(document.openapiObject.paths ?? {})
        return 'openapiObject' in document ? document.openapiObject : document.swaggerObject
      },
    })
    await app.register(fastifySwaggerUi, { routePrefix: '/docs', theme: { title } })
  },
)

/** Spread into the schema of a route for which no body is as good as an empty one: the plugin calls every body required. */
export const optionalBody = { 'x-optional-body': true } as const

function loosenBodies(paths: Record<string, unknown>): void {
  for (const operations of Object.values(paths)) {
    for (const operation of Object.values(operations as Record<string, { requestBody?: { required?: boolean } }>)) {
      if (operation.requestBody && 'x-optional-body' in operation) operation.requestBody.required = false
    }
  }
}
