import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Entry of a broadcast server with the behavior that its argument names; a fault affects every 10th value. */
const { createServer } = process.getBuiltinModule('node:http')

const behavior = process.argv[2] ?? 'plain'
const HEAD = { 'content-type': 'text/event-stream', connection: 'close' }

interface FakeStream {
  readonly index: number
  readonly write: (text: string) => void
  readonly end: () => void
  held: string
  heldFor: Socket | undefined
}
const streams = new Set<FakeStream>()
let opened = 0
let values = 0
let joined = ''

const toEvent = (value: string) => `id: ${values}\ndata: ${value}\n\n`
const sendToAll = (text: string) => {
  for (const { write } of streams) write(text)
}

const sendMost = (text: string) => (values % 10 === 0 ? undefined : sendToAll(text))

/** Delivery of a value to the streams; behaviors that are not listed deliver correctly. */
const sends: Record<string, (event: string, value: string, from: Socket) => void> = {
  plain: sendToAll,
  delaying: (event) => void setTimeout(sendToAll, 500, event),
  dropping: sendMost,
  creating: sendMost,
  doubling: (event) => sendToAll(values % 10 === 0 ? event + event : event),
  garbling: (event, value) => sendToAll(values % 10 === 0 ? toEvent(`${value}1`) : event),
  // The 10th of every ten comes before the 9th.
  swapping(event) {
    for (const stream of streams) {
      if (values % 10 === 9) stream.held = event
      else {
        stream.write(event + stream.held)
        stream.held = ''
      }
    }
  },
  // One stream receives values of two publishers in another order than the others.
  straying(event, _value, from) {
    for (const stream of streams) {
      if (stream.index > 0) stream.write(event)
      else if (stream.held === '') {
        stream.held = event
        stream.heldFor = from
      } else {
        stream.write(stream.heldFor === from ? stream.held + event : event + stream.held)
        stream.held = ''
      }
    }
  },
  cutting(event) {
    for (const stream of streams) {
      if (values === 5 && stream.index < 3) stream.end()
      else stream.write(event)
    }
  },
  // Sends all values of one turn in one buffer that all sockets share, without chunks: the fastest way in Node.
  joining(event) {
    if (joined === '') {
      setImmediate(() => {
        const bytes = Buffer.from(joined)
        joined = ''
        for (const { write } of streams) write(bytes as unknown as string)
      })
    }
    joined += event
  },
}
const send = sends[behavior] ?? sendToAll

function wait(request: IncomingMessage, response: ServerResponse): void {
  const index = opened++
  if (behavior === 'full' && index >= 5) return void response.writeHead(503).end()
  response.useChunkedEncodingByDefault = behavior !== 'joining'
  response.writeHead(200, HEAD)
  response.flushHeaders()
  const { socket } = request
  const write =
    behavior === 'joining' ? (text: string) => void socket.write(text) : (text: string) => void response.write(text)
  const greets = behavior === 'greeting'
  const end = () => response.end(greets ? 'data: bye\n\n' : '')
  const stream: FakeStream = { index, write, end, held: '', heldFor: undefined }
  const join = () => void streams.add(stream)
  if (greets) setTimeout(() => (write('data: hello\n\n'), join()), 100)
  else join()
  response.on('close', () => streams.delete(stream))
}

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url!, 'http://localhost')
  if (pathname === '/wait') return wait(request, response)
  if (pathname === '/closeall') {
    if (behavior !== 'lasting') for (const { end } of streams) end()
    return void response.end()
  }
  const value = searchParams.get('v')!
  values++
  if (behavior === 'refusing' && values % 10 === 0) return void response.writeHead(503).end()
  if (behavior === 'refusing all') return void response.writeHead(503).end()
  if (behavior === 'creating') response.statusCode = 201
  // Replies first, as the service does.
  if (behavior === 'late') setTimeout(() => response.end(value), values % 10 === 0 ? 1200 : 0)
  else response.end(behavior === 'lying' && values % 10 === 0 ? 'another' : value)
  send(toEvent(value), value, request.socket)
})
server.listen(0, '127.0.0.1', () => process.send!((server.address() as { port: number }).port))
process.once('disconnect', () => process.exit())
