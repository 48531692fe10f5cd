// A process of its own: reads as many megabytes of memory as its argument says before each reply, as a search does that
// looks at every row. `/read` tells how long that took in all (s).
const { createServer } = process.getBuiltinModule('node:http')

const DOUBLES_PER_MEGABYTE = 1e6 / Float64Array.BYTES_PER_ELEMENT
/** What the processor fetches at once: one of these in each of its cache lines of 64 bytes. */
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
