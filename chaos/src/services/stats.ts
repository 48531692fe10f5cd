import { Agent, request } from 'undici'
import type { TestedService } from './tested-service.ts'

const COLLECTIONS = 6
const PAGE = 200

/** Id of a writer's i-th collection. */
const formatId = (writer: number, i: number) => `00000000-0000-4000-8000-${String(writer * 100 + i).padStart(12, '0')}`
/** Id of a collection's only video. It contains the number of the write. */
const formatVideoId = (value: number) => String(value).padStart(11, '0')

/**
 * The service stats: a key is the id of a collection, its number is in the id of its video.
 * @param youtubeUri URL of the YouTube API
 */
export const createStatsService = (youtubeUri: string): TestedService => ({
  service: 'stats',
  settings: { youtubeUri },
  writers: 16,
  deletes: true,
  units: (writer) => Array.from({ length: COLLECTIONS }, (_, i) => ({ keys: [formatId(writer, i)] })),
  connect(url) {
    const dispatcher = new Agent()
    async function send(method: 'GET' | 'PUT' | 'DELETE', path: string, body?: object): Promise<any> {
      const reply = await request(new URL(path, url), {
        method,
        dispatcher,
        ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      })
      const text = await reply.body.text()
      if (reply.statusCode >= 300 && reply.statusCode !== 404)
        throw new Error(`${method} ${path}: ${reply.statusCode} ${text}`)
      return text === '' ? undefined : JSON.parse(text)
    }
    return {
      async write(contents) {
        for (const [id, value] of contents) {
          if (value === undefined) await send('DELETE', `/collections/${id}`)
          else await send('PUT', `/collections/${id}`, { videos: [formatVideoId(value)] })
        }
      },
      async read() {
        const found = new Map<string, number>()
        for (let next = ''; ;) {
          const page = await send('GET', `/collections?limit=${PAGE}${next && `&after=${next}`}`)
          for (const { id, videos } of page.collections) found.set(id, Number(videos[0]))
          if (!page.next) return found
          next = page.next
        }
      },
      close: () => dispatcher.close(),
    }
  },
})
