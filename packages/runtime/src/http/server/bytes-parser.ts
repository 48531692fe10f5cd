import type { FastifyRequest } from 'fastify'
import type { ContentTypeParserDoneFunction } from 'fastify/types/content-type-parser.js'
import type { IncomingMessage } from 'node:http'
import { createMemoryFull } from '../../errors/common-errors.ts'
import { BodyBuffer } from '../../memory/body-buffer.ts'
import { getHold, releaseHold, type Budget } from '../../memory/budget.ts'
import type { HotBody } from '../hot-route.ts'

/** Creates a parser that reads a body as bytes. It refuses a body that exceeds the limit or the free budget. */
export function createBytesParser({ limit, tooLarge }: HotBody, budget: Budget) {
  return function parseBytes(
    request: FastifyRequest,
    payload: IncomingMessage,
    done: ContentTypeParserDoneFunction,
  ): void {
    if (request.is404) return done(null)
    const expected = payload.headers['content-length']
    if (Number(expected) > limit) return done(tooLarge(`at most ${limit} bytes; received ${Number(expected)}`))
    const body = new BodyBuffer(() => getHold(payload, budget), expected === undefined ? undefined : Number(expected))
    function onData(chunk: Buffer): void {
      if (body.length + chunk.length > limit) refuse(tooLarge(`at most ${limit} bytes; received more`))
      else if (!body.add(chunk)) refuse(createMemoryFull())
    }
    function refuse(problem: Error): void {
      payload.off('data', onData).off('end', onEnd).off('error', onError).on('error', ignore)
      releaseHold(payload)
      // The rest of the body is discarded. The connection ends with the reply.
      payload.resume()
      done(problem)
    }
    const onEnd = () => done(null, body.bytes)
    const onError = (error: Error) => done(Object.assign(error, { statusCode: 400 }))
    payload.on('data', onData).on('end', onEnd).on('error', onError)
  }
}

const ignore = () => {}
