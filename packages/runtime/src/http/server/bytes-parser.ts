import type { FastifyRequest } from 'fastify'
import type { ContentTypeParserDoneFunction } from 'fastify/types/content-type-parser.js'
import type { IncomingMessage } from 'node:http'
import { createMemoryFull } from '../../errors/common-errors.ts'
import { BodyBuffer } from '../../memory/body-buffer.ts'
import { getHold, releaseHold, type Budget } from '../../memory/budget.ts'
import { Problem } from '../../errors/problems.ts'
import type { HotBody } from '../hot-route.ts'
import { isGzipContent } from '../request/content-check.ts'
import { readContent, type GunzipOptions } from '../request/gunzip-content.ts'

const EMPTY = Buffer.alloc(0)

/** Creates a parser that reads a body as bytes. It refuses a body that exceeds the limit or the free budget. */
export function createBytesParser({ limit, tooLarge, acceptsGzip }: HotBody, budget: Budget) {
  return function parseBytes(
    request: FastifyRequest,
    payload: IncomingMessage,
    done: ContentTypeParserDoneFunction,
  ): void {
    if (request.is404) return done(null)
    const expected = payload.headers['content-length']
    if (Number(expected) > limit) return done(tooLarge(`at most ${limit} bytes; received ${Number(expected)}`))
    if (acceptsGzip && isGzipContent(payload)) return void passGzip(payload, { budget, limit, tooLarge }, done)
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

async function passGzip(
  payload: IncomingMessage,
  options: GunzipOptions,
  done: ContentTypeParserDoneFunction,
): Promise<void> {
  let bytes: Buffer
  try {
    bytes = await readGzip(payload, options)
  } catch (error) {
    return done(error as Error)
  }
  done(null, bytes)
}

/** Reads a body that is compressed by gzip. @throws Problem; another error if the client disconnects */
async function readGzip(payload: IncomingMessage, options: GunzipOptions): Promise<Buffer> {
  const body = new BodyBuffer(() => getHold(payload, options.budget))
  try {
    for await (const piece of readContent(payload, options)) if (!body.add(piece)) throw createMemoryFull()
    return body.bytes ?? EMPTY
  } catch (error) {
    releaseHold(payload)
    // The rest of the body is discarded. The connection ends with the reply.
    payload.on('error', ignore).resume()
    throw error instanceof Problem ? error : Object.assign(error as Error, { statusCode: 400 })
  }
}
