import type { FastifyRequest } from 'fastify'
import type { ContentTypeParserDoneFunction } from 'fastify/types/content-type-parser.js'
import type { IncomingMessage } from 'node:http'
import type { HotBody } from './hot-route.ts'

/** Reads a body as bytes. What is over the limit is not kept. */
export function bytesParser({ limit, tooLarge }: HotBody) {
  const fault = () => tooLarge(`at most ${limit} bytes`)

  return function parseBytes(
    request: FastifyRequest,
    payload: IncomingMessage,
    done: ContentTypeParserDoneFunction,
  ): void {
    if (request.is404) return done(null)
    if (Number(payload.headers['content-length']) > limit) return done(fault())
    // Most bodies are one chunk, and are not copied.
    let first: Buffer | undefined
    let rest: Buffer[] | undefined
    let length = 0
    function onData(chunk: Buffer): void {
      length += chunk.length
      if (length > limit) {
        payload.off('data', onData).off('end', onEnd).off('error', onError).on('error', ignore)
        first = rest = undefined
        // Thrown away from now on; the reply closes the connection.
        payload.resume()
        done(fault())
      } else if (!first) first = chunk
      else (rest ??= [first]).push(chunk)
    }
    const onEnd = () => done(null, rest ? Buffer.concat(rest, length) : first)
    const onError = (error: Error) => done(Object.assign(error, { statusCode: 400 }))
    payload.on('data', onData).on('end', onEnd).on('error', onError)
  }
}

const ignore = () => {}
