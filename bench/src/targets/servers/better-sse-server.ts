import { createChannel, createSession } from 'better-sse'

// A separate process with the requests `/wait`, `/put` and `/closeall`, as the README of better-sse describes.
const { createServer } = process.getBuiltinModule('node:http')

const channel = createChannel()

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url!, 'http://localhost')
  if (pathname === '/wait') {
    const session = await createSession(request, response)
    // A session can be ended only with the reply from which it was created.
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
