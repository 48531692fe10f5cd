import type { FastifyReply } from 'fastify'
import type { CommonSettings } from '../settings/settings.ts'

const requestIdOf = (reply: FastifyReply): string[] => ['x-request-id', reply.request.id]
const allOf = (reply: FastifyReply): string[] => Object.entries(reply.getHeaders()).flat().map(String)

/**
 * The headers that the house's hooks set on a reply, as a flat list: a route that writes to `reply.raw` must send them
 * along. Without CORS that is the request id alone, and naming it saves 2 us a request.
 */
export function hookHeaders({ corsOrigins }: Pick<CommonSettings, 'corsOrigins'>): (reply: FastifyReply) => string[] {
  return corsOrigins.length > 0 ? allOf : requestIdOf
}
