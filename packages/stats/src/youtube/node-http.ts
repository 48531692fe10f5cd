import type { IncomingMessage } from 'node:http'
import { fetchOneByOne, createCalls, readBody } from './youtube-call.ts'
import type { VideoClientOptions, VideoClient } from './video-client.ts'

// Not imported by name: an ESM import of node:http runs its lazy getters, which load 10 MB of WebSocket.
const http = process.getBuiltinModule('node:http')
const https = process.getBuiltinModule('node:https')

/** Creates a client on Node's HTTP client with a keep-alive agent. It makes one call per video, all concurrent. */
export function createNodeHttpClient(options: VideoClientOptions): VideoClient {
  const { Agent, get } = options.uri.startsWith('https:') ? https : http
  const agent = new Agent({ keepAlive: true, maxSockets: options.connections })

  const calls = createCalls(options, async (path, headers, deadline) => {
    const signal = deadline.createSignal()
    const reply = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = get(options.uri + path, { agent, headers, signal }, resolve)
      request.on('error', (error) => reject(signal.aborted ? signal.reason : error))
    })
    return { status: reply.statusCode!, retryAfter: reply.headers['retry-after'], body: await readBody(reply) }
  })

  return {
    ...fetchOneByOne(calls),
    async close() {
      agent.destroy()
    },
  }
}
