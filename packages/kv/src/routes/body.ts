import type { ContentTypeParserDoneFunction } from 'fastify/types/content-type-parser.js'
import type { FastifyRequest } from 'fastify'
import type { IncomingMessage } from 'node:http'
import { errors } from '../errors.ts'
import type { KvConfig } from '../settings.ts'

/** Reads any body as bytes: a PUT's as a value, a POST's as a batch. What is over the limit is not kept. */
export function createBodyParser({ valueLimit, batchLimit }: Pick<KvConfig, 'valueLimit' | 'batchLimit'>) {
  return function parseBody(request: FastifyRequest, payload: IncomingMessage, done: ContentTypeParserDoneFunction) {
    if (request.is404) return done(null)
    const isBatch = request.method === 'POST'
    const limit = isBatch ? batchLimit : valueLimit
    const tooLarge = () => (isBatch ? errors.BATCH_TOO_LARGE : errors.VALUE_TOO_LARGE)(`at most ${limit} bytes`)
    if (Number(payload.headers['content-length']) > limit) return done(tooLarge())

    // Most bodies are one chunk, and are not copied.
    let first: Buffer | undefined
    let rest: Buffer[] | undefined
    let length = 0
    function onData(chunk: Buffer): void {
      length += chunk.length
      if (length > limit) {
        payload.off('data', onData)
        payload.off('end', onEnd)
        payload.off('error', onError)
        payload.on('error', ignore)
        first = rest = undefined
        // Thrown away from now on; the reply closes the connection.
        payload.resume()
        done(tooLarge())
      } else if (!first) first = chunk
      else (rest ??= [first]).push(chunk)
    }
    function onEnd(): void {
      done(null, rest ? Buffer.concat(rest, length) : first)
    }
    function onError(error: Error): void {
      done(Object.assign(error, { statusCode: 400 }))
    }
    payload.on('data', onData)
    payload.on('end', onEnd)
    payload.on('error', onError)
  }
}

const ignore = () => {}
