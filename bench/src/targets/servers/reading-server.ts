// A separate process that reads memory before each reply, as a search of all rows does. Its arguments are the port and
// the megabytes to read. `/read` returns the total time of these reads (s).
const { createServer } = process.getBuiltinModule('node:http')

const DOUBLES_PER_MEGABYTE = 1e6 / Float64Array.BYTES_PER_ELEMENT
/** The processor fetches whole cache lines of 64 bytes, which hold this many doubles. */
const DOUBLES_PER_CACHE_LINE = 8

const memory = new Float64Array(Number(process.argv[3]) * DOUBLES_PER_MEGABYTE)
let nanoseconds = 0n

function read(): number {
  const began = process.hrtime.bigint()
  let sum = 0
  for (let i = 0; i < memory.length; i += DOUBLES_PER_CACHE_LINE) sum += memory[i]!
  nanoseconds += process.hrtime.bigint() - began
  return sum
}

const server = createServer(({ url }, response) => {
  const body = url === '/read' ? String(Number(nanoseconds) / 1e9) : String(read())
  response.writeHead(200, ['content-type', 'text/plain', 'content-length', String(body.length)]).end(body)
})
server.listen(Number(process.argv[2]), '127.0.0.1')
