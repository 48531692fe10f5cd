import type { ConstantReply } from './bare.ts'

// A process of its own: answers whatever it reads with the reply that its argument describes, in the bytes that
// `node:http` would make of it.
const { createServer } = process.getBuiltinModule('node:net')
const { STATUS_CODES } = process.getBuiltinModule('node:http')

const { status, headers, body } = JSON.parse(process.argv[3]!) as ConstantReply
const all = { ...headers, Date: new Date().toUTCString(), Connection: 'keep-alive', 'Keep-Alive': 'timeout=5' }
const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
const reply = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`

const server = createServer({ noDelay: true }, (socket) => {
  socket.on('data', () => socket.write(reply, 'latin1'))
  // A client that cuts is no reason to end.
  socket.on('error', () => {})
})
server.listen(Number(process.argv[2]), '127.0.0.1')
