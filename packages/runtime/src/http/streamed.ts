import type { FastifyReply } from 'fastify'

/** The headers that hooks have set on a reply, as a flat list: a route that writes to `reply.raw` sends them along. */
export const headersOf = (reply: FastifyReply): string[] => Object.entries(reply.getHeaders()).flat().map(String)
