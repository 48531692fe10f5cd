import { createChannel, createSession } from 'better-sse'

// A process of its own: the source's three requests, as the README of better-sse says to serve them.
const { createServer } = process.getBuiltinModule('node:http')

const channel = createChannel()

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url!, 'http://localhost')
  if (pathname === '/wait') {
    const session = await createSession(request, response)
    // It has no way to end a session but the reply that it was made of.
    session.state.end = () => response.end()
    channel.register(session)
  } else if (pathname === '/put') {
    const value = searchParams.get('v') ?? ''
    channel.broadcast(value)
    response.end(value)
  } else if (pathname === '/closeall') {
    for (const { state } of channel.activeSessions) (state.end as () => void)()
    response.end()
  } else response.writeHead(404).end()
})
server.listen(Number(process.argv[2]), '127.0.0.1')
