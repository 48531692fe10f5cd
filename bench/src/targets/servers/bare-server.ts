import type { ConstantReply } from '../bare.ts'

// A separate process that replies to every request with the reply in its argument.
const { createServer } = process.getBuiltinModule('node:http')

const { status, headers, body, bodyMode } = JSON.parse(process.argv[3]!) as ConstantReply
const flat = Object.entries(headers).flat()

const server = createServer((request, response) => {
  const respond = () => void response.writeHead(status, flat).end(body)
  if (!bodyMode) return respond()
  let read: Buffer | undefined
  request.on('data', (chunk: Buffer) => (read = read ? Buffer.concat([read, chunk]) : chunk))
  request.on('end', () => {
    if (bodyMode === 'json') JSON.parse(String(read))
    respond()
  })
})
server.listen(Number(process.argv[2]), '127.0.0.1')
