import sse from '@fastify/sse'
import fastify, { type FastifyPluginAsync, type FastifyReply } from 'fastify'

// A separate process with the requests `/wait`, `/put` and `/closeall`, as the README of @fastify/sse describes.
const app = fastify()
// The module itself is the plugin for the whole app; its types declare only the export for one scope.
await app.register(sse as unknown as FastifyPluginAsync)

const streams = new Set<FastifyReply['sse']>()

app.get('/wait', { sse: 'only' }, async (_request, reply) => {
  reply.sse.keepAlive()
  // The head is sent before the first value, because a browser must know immediately that it is connected.
  reply.sse.sendHeaders()
  reply.raw.flushHeaders()
  streams.add(reply.sse)
  reply.sse.onClose(() => streams.delete(reply.sse))
})

app.get<{ Querystring: { v: string } }>('/put', async ({ query }) => {
  // `send` rejects if its stream ends meanwhile.
  for (const stream of streams) stream.send(query.v).catch(() => streams.delete(stream))
  return query.v
})

app.get('/closeall', async () => {
  for (const stream of streams) stream.close()
  return ''
})

await app.listen({ port: Number(process.argv[2]), host: '127.0.0.1' })
