import type { Manners } from '@influencer-stats/runtime/http'
import { rawListener } from '@influencer-stats/runtime/raw-listener'
import { validatorOf } from '@influencer-stats/runtime/validation'
import { readAdmission, type Encoders } from './admission.ts'
import { parseQuery } from './core/query.ts'
import type { Encoder } from './encoder/encoder.ts'
import type { History } from './history/history.ts'
import { waitQuery, type WaitQuery } from './routes/schemas.ts'
import type { Streams } from './streams.ts'

/** What opens streams. */
export interface WaitOptions {
  readonly streams: Streams
  readonly history: History
  readonly encoders: Encoders
}

/** The headers of every stream, as a flat list. The connection is the stream's: it ends with it. */
export const streamHeaders = ({ contentType }: Encoder): string[] =>
  [
    ['content-type', contentType],
    ['cache-control', 'no-store, no-transform'],
    ['x-accel-buffering', 'no'],
    ['x-content-type-options', 'nosniff'],
    ['connection', 'close'],
  ].flat()

function headOf(encoder: Encoder): string {
  const headers = streamHeaders(encoder)
  const lines = headers.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${headers[i + 1]}\r\n`] : []))
  return `HTTP/1.1 200 OK\r\n${lines.join('')}`
}

const PATH = '/wait'

/**
 * A server that opens streams ahead of Node's HTTP parser: 3 to 5 KB a stream in place of 18. Whatever is not a plain
 * request for a stream, or would be refused, is left to Fastify, and so to `routes/wait.ts`.
 */
export function rawDoor({ streams, history, encoders }: WaitOptions) {
  const isValid = validatorOf(waitQuery, 'querystring')
  const heads = new Map([encoders.eventStream, encoders.comet].map((encoder) => [encoder, headOf(encoder)]))
  return rawListener({
    prefix: `GET ${PATH}`,
    answerer({ guard, lifecycle, nextRequestId, route }: Manners) {
      const figures = route('GET', PATH)
      return ({ target, headers }, socket) => {
        const startedAt = performance.now()
        // A page of another origin needs the headers that Fastify's hooks set.
        if (headers.origin !== undefined || lifecycle.phase !== 'ready') return false
        const [path, search = ''] = target.split('?', 2)
        if (path !== PATH || target.indexOf('?', PATH.length + 1) >= 0) return false
        const parsed = parseQuery(search)
        if (!isValid(parsed)) return false
        const query = parsed as WaitQuery
        if (guard.check(headers, 'read', query.access_token)) return false
        const admission = readAdmission(query, headers, history, encoders, false)
        // Asked for only where it matters: a socket keeps its address once somebody has asked.
        const address = streams.countsAddresses ? socket.remoteAddress : undefined
        if (admission.kind !== 'stream' || !streams.hasRoom(address)) return false
        const { encoder } = admission.request
        const head = `${heads.get(encoder)}date: ${new Date().toUTCString()}\r\nx-request-id: ${nextRequestId()}\r\n\r\n`
        streams.open(socket, address, admission.request, head)
        figures.observe(200, (performance.now() - startedAt) / 1000)
        return true
      }
    },
  })
}
