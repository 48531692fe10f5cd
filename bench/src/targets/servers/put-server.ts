import { Level } from 'level'

// A separate process that only puts each request body into a database, under the id in the URL. Its arguments are the
// port and the folder of the database.
const { createServer } = process.getBuiltinModule('node:http')

const db = new Level<string, Buffer>(process.argv[3]!, { valueEncoding: 'buffer' })

const server = createServer((request, response) => {
  const id = request.url!.slice(request.url!.indexOf('=') + 1)
  request.on('data', async (value: Buffer) => {
    await db.put(id, value)
    response.writeHead(201, ['content-length', '0']).end()
  })
})
await db.open()
server.listen(Number(process.argv[2]), '127.0.0.1')
