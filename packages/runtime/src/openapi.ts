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
    })
    await app.register(fastifySwaggerUi, { routePrefix: '/docs', theme: { title } })
  },
)
