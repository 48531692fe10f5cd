import { Level } from 'level'
import { join } from 'node:path'
import type { ConstantReply } from '../bare.ts'

// A separate process that reads or writes a database, and then sends the reply in its argument. A GET reads the id in its
// URL with `getSync`. The PUTs of one turn of the event loop become one batch; meanwhile the next ones collect. The other
// arguments are the port and the folder, which contains a base of kv.
const { createServer } = process.getBuiltinModule('node:http')

const { status, headers, body } = JSON.parse(process.argv[3]!) as ConstantReply
const flat = Object.entries(headers).flat()
const TEXT = { keyEncoding: 'utf8', valueEncoding: 'utf8' } as const
const MIB = 1_024 * 1_024

const db = new Level<Buffer, Buffer>(join(process.argv[4]!, 'level'), {
  keyEncoding: 'buffer',
  valueEncoding: 'buffer',
  // As in kv.
  cacheSize: 128 * MIB,
  writeBufferSize: 64 * MIB,
  maxFileSize: 16 * MIB,
})

let puts: { readonly id: string; readonly value: Buffer; respond(): void }[] = []
let isWriting = false

async function writePuts(): Promise<void> {
  isWriting = true
  await new Promise((resolve) => setImmediate(resolve))
  while (puts.length > 0) {
    const group = puts
    puts = []
    const batch = db.batch()
    for (const { id, value } of group) batch.put(Buffer.from(id), value)
    await batch.write()
    for (const { respond } of group) respond()
  }
  isWriting = false
}

const server = createServer((request, response) => {
  const id = request.url!.slice(request.url!.indexOf('=') + 1)
  const respond = () => void response.writeHead(status, flat).end(body)
  if (request.method === 'GET') {
    db.getSync<string, string>(id, TEXT)
    return respond()
  }
  request.on('data', (value: Buffer) => {
    puts.push({ id, value, respond })
    if (!isWriting) void writePuts()
  })
})
await db.open()
server.listen(Number(process.argv[2]), '127.0.0.1')
