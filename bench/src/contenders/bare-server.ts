import type { ConstantReply } from './bare.ts'

// A process of its own: answers everything with the reply that its argument describes.
const { createServer } = process.getBuiltinModule('node:http')

const { status, headers, body } = JSON.parse(process.argv[2]!) as ConstantReply
const flat = Object.entries(headers).flat()

const server = createServer((_request, response) => {
  response.writeHead(status, flat).end(body)
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as { port: number }
  process.stdout.write(`${port}\n`)
})
