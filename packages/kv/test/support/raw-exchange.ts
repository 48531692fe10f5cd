import { once } from 'node:events'
import { connect } from 'node:net'

/** Sends bytes on a new connection and reads until the connection ends. */
export async function exchangeRaw(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let reply = ''
  socket.setEncoding('latin1').on('data', (part) => (reply += part))
  socket.write(text)
  await once(socket, 'close')
  return reply
}
