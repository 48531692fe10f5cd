import type { IncomingMessage, ServerResponse } from 'node:http'
import type { StatsServer } from './server.ts'
import { writePrepared } from './write.ts'

// Not imported by name: an ESM import of node:http runs its lazy getters, which load 10 MB of WebSocket.
const { createServer } = process.getBuiltinModule('node:http')

const HOT_ROUTE = /^\/collections\/([A-Za-z0-9._~-]{1,128})\/stats$/

/**
 * Node's server ahead of Fastify: answers a read whose reply is ready, in the same manner as Fastify would. Whatever is
 * not exactly that, or would be refused, goes on to Fastify untouched.
 */
export function createNodeHttpServer(): StatsServer {
  return {
    serverFactory: (cache) => (manners) => (handler, options) => {
      const { guard, lifecycle } = manners
      const figures = manners.route('GET', '/collections/:id/stats')

      function answerHot(request: IncomingMessage, response: ServerResponse): boolean {
        // A page of another origin needs the headers that Fastify's hooks set.
        if (request.method !== 'GET' || request.headers.origin || lifecycle.phase !== 'ready') return false
        const id = HOT_ROUTE.exec(request.url!)?.[1]
        if (id === undefined || guard.check(request.headers, 'read')) return false
        const reply = cache.ready(id)
        if (!reply) return false
        const startedAt = performance.now()
        const status = writePrepared(
          response,
          reply,
          ['x-request-id', manners.nextRequestId()],
          request.headers['if-none-match'],
        )
        figures.observe(status, (performance.now() - startedAt) / 1000)
        return true
      }

      return createServer(options, (request, response) => {
        if (!answerHot(request, response)) handler(request, response)
      })
    },
  }
}
