import type { AddressInfo } from 'node:net'

/**
 * Entry of a server that uses a constant processor time. Arguments: the time (us), and when: for each request (`before` its
 * reply), or `after`: once as soon as there was no request for 8 ms; its replies take 2 ms, so they cost little.
 */
const { createServer } = process.getBuiltinModule('node:http')
const [microseconds, when] = [Number(process.argv[2]), process.argv[3]]
const [IDLE_MS, REPLY_MS] = [8, 2]

function burn(): void {
  const end = performance.now() + microseconds / 1000
  while (performance.now() < end);
}

const idle = setTimeout(burn, IDLE_MS)
const server = createServer((_, response) => {
  const reply = () => response.writeHead(200, { 'content-length': 1 }).end('a')
  if (when === 'after') {
    idle.refresh()
    setTimeout(reply, REPLY_MS)
  } else {
    burn()
    reply()
  }
})
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))
process.once('disconnect', () => process.exit())
