import type { Manners } from '@influencer-stats/runtime/http'
import { toProblem } from '@influencer-stats/runtime/problem-replies'
import type { FastifyServerFactory } from 'fastify'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { SEARCH } from '../paths.ts'
import { Searcher } from '../searcher.ts'
import type { PricesServer, ServerOptions } from './server.ts'
import { writeAnswer, writeProblem } from './write.ts'

// Not imported by name: an ESM import of node:http runs its lazy getters, which load 10 MB of WebSocket.
const { createServer } = process.getBuiltinModule('node:http')

/**
 * Node's server ahead of Fastify: answers a search in the same manner as Fastify would. Whatever is not a JSON body of a
 * known length at the path of an index, or would be refused before its body is read, goes on to Fastify untouched.
 */
export function createNodeHttpServer(): PricesServer {
  return { serverFactory: (options) => (manners) => createFactory(options, manners) }
}

function createFactory({ views, names, bodyLimit, log }: ServerOptions, manners: Manners): FastifyServerFactory {
  const { guard, lifecycle } = manners
  const figures = manners.route('POST', SEARCH)
  const searcher = new Searcher()
  const indexByUrl = new Map(names.map((name) => [SEARCH.replace(':index', name), name]))

  /** The length of a body that is ours to read, or 0. */
  function lengthOf({ headers }: IncomingMessage): number {
    // A page of another origin needs the headers that Fastify's hooks set.
    if (headers['content-type'] !== 'application/json' || headers.origin !== undefined) return 0
    if (lifecycle.phase !== 'ready' || guard.check(headers, 'read')) return 0
    const length = Number(headers['content-length'])
    return length <= bodyLimit ? length : 0
  }

  function answer(response: ServerResponse, body: Buffer, name: string, startedAt: number): void {
    const hookHeaders = ['x-request-id', manners.nextRequestId()]
    let status: number
    try {
      const view = views.current()
      status = writeAnswer(response, hookHeaders, searcher.answer(body, view, views.indexOf(view, name)))
    } catch (error) {
      const problem = toProblem(error)
      if (problem.status >= 500) log.error({ err: error, requestId: hookHeaders[1] }, 'request failed')
      status = writeProblem(response, hookHeaders, problem)
    }
    figures.observe(status, (performance.now() - startedAt) / 1000)
  }

  function answerHot(request: IncomingMessage, response: ServerResponse): boolean {
    if (request.method !== 'POST') return false
    const name = indexByUrl.get(request.url!)
    const length = name === undefined ? 0 : lengthOf(request)
    if (!(length > 0)) return false
    const startedAt = performance.now()
    let chunks: Buffer[] | undefined
    let read = 0
    // Answered once all that Content-Length says is there, which is most often one piece: `end` comes a turn later. Who
    // leaves before that gets no answer, and Node's own time-outs cut who is too slow.
    request.on('data', (chunk: Buffer) => {
      read += chunk.length
      if (read < length) (chunks ??= []).push(chunk)
      else answer(response, chunks ? Buffer.concat([...chunks, chunk]) : chunk, name!, startedAt)
    })
    return true
  }

  return (handler, options) =>
    createServer(options, (request, response) => {
      if (!answerHot(request, response)) handler(request, response)
    })
}
