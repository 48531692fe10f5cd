import { text } from 'node:stream/consumers'
import { parseVideos, videosPath } from './video-list.ts'
import type { VideoNumbers } from '../core/numbers.ts'
import type { ClientOptions, VideoClient } from './client.ts'
import { toUpstreamProblem } from './fault.ts'

// Not imported by name: an ESM import of node:http runs its lazy getters, which load 10 MB of WebSocket.
const http = process.getBuiltinModule('node:http')
const https = process.getBuiltinModule('node:https')

/** Node's own client with a keep-alive agent: one call a video, all at once. */
export function createNodeHttpClient({ uri, key, timeout, connections, meter, logger }: ClientOptions): VideoClient {
  const { Agent, get } = uri.startsWith('https:') ? https : http
  const agent = new Agent({ keepAlive: true, maxSockets: connections })

  function fetchOne(id: string): Promise<VideoNumbers[]> {
    return new Promise((resolve, reject) => {
      meter.spend()
      logger.debug(`asking YouTube for ${id}`)
      const signal = AbortSignal.timeout(timeout)
      get(uri + videosPath([id], key), { agent, signal }, (reply) => {
        logger.debug(`YouTube answered ${reply.statusCode} for ${id}`)
        text(reply)
          .then((body) => resolve(parseVideos(reply.statusCode!, body)))
          .catch(reject)
      }).on('error', (error) => reject(signal.aborted ? signal.reason : error))
    })
  }

  return {
    async fetch(ids) {
      try {
        const found = await Promise.all(ids.map(fetchOne))
        return found.flat()
      } catch (fault) {
        throw toUpstreamProblem(fault)
      }
    },
    async close() {
      agent.destroy()
    },
  }
}
