import type { Replica } from '@influencer-stats/log/replica'
import { getHold } from '@influencer-stats/runtime/budget'
import { commonErrors } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { readContent, type GunzipOptions } from '@influencer-stats/runtime/gunzip-content'
import { openReplyOutput } from '@influencer-stats/runtime/reply-output'
import { reportFault, type FaultSinks } from '@influencer-stats/runtime/problem-replies'
import { Problem } from '@influencer-stats/runtime/problems'
import { buildReadReplies } from '@influencer-stats/runtime/problem-schemas'
import { skipBodyValidation } from '@influencer-stats/runtime/validation'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { BufferPool } from '../search/answer-output.ts'
import { answerBulkSearch } from '../search/bulk-search.ts'
import { errors } from '../errors.ts'
import { exampleSearch } from '../sample/examples.ts'
import { Searcher } from '../search/searcher.ts'
import type { CatalogViews } from '../search/catalog-view.ts'
import { BULK_PATH } from '../search/paths.ts'
import { setStalenessHeaders } from './read-consistency.ts'
import { searchBodyErrors, searchParams } from './search.ts'
import { drainBody } from './drain-body.ts'
import { JSON_TYPE, LINES_TYPE } from './media-types.ts'

const EXAMPLE_ITEM = `${JSON.stringify({ id: 'a', ...exampleSearch })}\n`

/**
 * Adds the route for many searches in one request.
 * @param content limits of a compressed body, and the budget of the answers
 */
export async function addBulkRoute(
  root: App,
  views: CatalogViews,
  replica: Replica | undefined,
  faults: FaultSinks,
  content: GunzipOptions,
): Promise<void> {
  const searcher = new Searcher()
  const buffers = new BufferPool()

  await root.register(async (app: App) => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser([JSON_TYPE, LINES_TYPE], (_request: FastifyRequest, payload: unknown, done: any) =>
      done(null, payload),
    )
    app.post(
      BULK_PATH,
      {
        config: { access: 'read', cost: 10, mediaTypes: [JSON_TYPE, LINES_TYPE], contentEncodings: ['gzip'] },
        validatorCompiler: skipBodyValidation,
        schema: {
          tags: ['search'],
          operationId: 'searchMany',
          summary: 'Run several searches in one request',
          description:
            'The body has search requests, each with an `id` (text or number): one after the other, with or without ' +
            'line breaks between them, or as one JSON array. The reply has the results in the same order, one per line: ' +
            '`{"price"?,"error":{"message"?,"code"?,"item"?},"id"}`. It repeats each `id` as it was sent, and begins ' +
            'before the request ends. `item` is the number of the search, from 1. A body that cannot be split adds ' +
            'one error at the end, whose message has the position in bytes. The body may be compressed ' +
            '(`Content-Encoding: gzip`), and so may the reply (`Accept-Encoding`).',
          params: searchParams,
          body: { content: { [LINES_TYPE]: { schema: { type: 'string', examples: [EXAMPLE_ITEM] } } } },
          response: {
            200: { content: { [LINES_TYPE]: { schema: { type: 'string' } } } },
            ...buildReadReplies(
              commonErrors.BAD_GZIP,
              errors.INDEX_NOT_LOADED,
              errors.ITEM_TOO_LARGE,
              ...searchBodyErrors,
            ),
          },
        } as never,
      },
      async (request: FastifyRequest, reply: FastifyReply) => {
        setStalenessHeaders(replica, reply)
        const view = views.getCurrent()
        const index = views.findIndex(view, (request.params as { index: string }).index)
        if (!request.body)
          throw commonErrors.VALIDATION_FAILED(
            `body must be searches in JSON, such as ${EXAMPLE_ITEM.trim()}; received no body`,
          )
        const { raw } = reply
        // A bulk request lasts many turns of the event loop, so it holds its view to the end. It shares the searcher with
        // other requests, and uses the searcher's buffers only within a turn.
        view.hold()
        const output = openReplyOutput(request, reply, content.budget, LINES_TYPE)
        try {
          const isComplete = await answerBulkSearch(readContent(request.raw, content), output, {
            searcher,
            buffers,
            view,
            index,
            onFault: (error, problem) => reportFault(faults, error, problem, request.id),
            hold: getHold(request.raw, content.budget),
          })
          output.stream.end()
          if (!isComplete) drainBody(request)
        } catch (error) {
          // A client that has disconnected, or that does not read in time, gets no further data.
          if (reply.sent) raw.destroy()
          else if (!(error instanceof Problem) && request.raw.destroyed)
            throw commonErrors.BAD_REQUEST('the request was aborted')
          else throw error
        } finally {
          await view.release()
        }
      },
    )
  })
}
