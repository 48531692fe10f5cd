import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'

/** A proxy that ends every connection after a number of bytes of its replies. */
export interface CuttingProxy {
  readonly url: string
  /** Number of connections that it has ended. */
  readonly cuts: number
  close(): void
}

/** @param maxBytes returns the number of bytes after which the next connection ends */
export async function startCuttingProxy(url: string, maxBytes: () => number): Promise<CuttingProxy> {
  const { hostname, port } = new URL(url)
  let cuts = 0
  const server = createServer((client) => {
    const service = connect(Number(port), hostname)
    let left = maxBytes()
    client.on('error', () => {}).on('close', () => service.destroy())
    service.on('error', () => {}).on('close', () => client.end())
    client.pipe(service)
    service.on('data', (piece) => {
      if (piece.length < left) {
        left -= piece.length
        client.write(piece)
        return
      }
      cuts++
      client.end(piece.subarray(0, left))
      service.destroy()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get cuts() {
      return cuts
    },
    close: () => void server.close(),
  }
}
