import type { ConstantReply } from '../bare.ts'

// A separate process that sends the reply in its argument after every read, with the same bytes as `node:http`.
const { createServer } = process.getBuiltinModule('node:net')
const { STATUS_CODES } = process.getBuiltinModule('node:http')

const { status, headers, body } = JSON.parse(process.argv[3]!) as ConstantReply
const all = { ...headers, Date: new Date().toUTCString(), Connection: 'keep-alive', 'Keep-Alive': 'timeout=5' }
const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
const reply = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`

const server = createServer({ noDelay: true }, (socket) => {
  socket.on('data', () => socket.write(reply, 'latin1'))
  // A cut connection must not end the process.
  socket.on('error', () => {})
})
server.listen(Number(process.argv[2]), '127.0.0.1')
