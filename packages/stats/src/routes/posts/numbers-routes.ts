import type { Budget } from '@influencer-stats/runtime/budget'
import { createBytesParser } from '@influencer-stats/runtime/bytes-parser'
import { closedObject } from '@influencer-stats/runtime/closed-object'
import { commonErrors } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { buildChangeReplies, buildReadReplies } from '@influencer-stats/runtime/problem-schemas'
import { skipBodyValidation } from '@influencer-stats/runtime/validation'
import {
  MAX_POST_POINTS,
  pickCounts,
  POST_COUNTS,
  toNumbersReply,
  toPostKey,
  toPostReply,
} from '../../core/posts/post.ts'
import { MAX_IMPORT_ROWS, readNumbers } from '../../core/posts/read-numbers.ts'
import { errors } from '../../errors.ts'
import { readReportedHistory } from '../../posts/reported-history.ts'
import type { Posts } from '../../posts/posts.ts'
import type { StateReader } from '../../state/stats-state.ts'
import { collectionParams } from '../collection-schemas.ts'
import { postFaults, postReadFaults } from './post-routes.ts'
import {
  importedNumbersReply,
  numbersBody,
  numbersParams,
  numbersReply,
  postParams,
  postReply,
  reportedHistoryReply,
} from './post-schemas.ts'

const tags = ['posts']
const CSV_TYPE = 'text/csv'
const MAX_FILE_BYTES = 1_048_576
const EXAMPLE_FILE =
  'url,views,likes,at\nhttps://www.tiktok.com/@creator/video/7234567890123456789,12500,830,2026-11-20\n'
const time = { type: 'string', format: 'date-time' } as const

/** Routes that also accept the token of a connector. */
const config = { acceptsConnector: true }

/** Registers the routes of the numbers of posts. */
export async function registerNumbersRoutes(
  app: App,
  state: Pick<StateReader, 'get' | 'getRecords' | 'listRecords'>,
  posts: Posts,
  budget: Budget,
): Promise<void> {
  app.post(
    '/collections/:id/posts/:post/numbers',
    {
      config,
      schema: {
        tags,
        operationId: 'reportNumbers',
        summary: 'Report the numbers of a post at a time',
        description: 'Numbers may be lower than earlier ones. Numbers of the same time are replaced.',
        params: postParams,
        body: numbersBody,
        response: {
          200: postReply,
          201: postReply,
          ...buildChangeReplies(
            ...postFaults,
            errors.POST_NOT_FOUND,
            errors.NO_NUMBERS,
            errors.NUMBERS_IN_FUTURE,
            errors.TOO_MANY_NUMBERS,
          ),
        },
      },
    },
    async ({ params, body }, reply): Promise<any> => {
      const { at, note } = body
      const counts = pickCounts(body)
      if (Object.keys(counts).length === 0) throw errors.NO_NUMBERS(`one of ${POST_COUNTS.join(', ')} is needed`)
      const numbers = { at: at === undefined ? Date.now() : Date.parse(at), ...counts, note }
      const { post, isNew } = await posts.report(params.id, params.post, numbers)
      return reply.code(isNew ? 201 : 200).send(toPostReply(params.post, post) as never)
    },
  )

  app.get(
    '/collections/:id/posts/:post/numbers',
    {
      schema: {
        tags,
        operationId: 'listNumbers',
        summary: 'List the reported numbers of a post, the oldest first',
        params: postParams,
        response: { 200: numbersReply, ...buildReadReplies(...postReadFaults, errors.POST_NOT_FOUND) },
      },
    },
    async ({ params: { id, post } }): Promise<any> => {
      if (!(await state.get(id))) throw errors.COLLECTION_NOT_FOUND(id)
      const key = toPostKey(id, post)
      if (!(await state.getRecords('post', [key]))[0]) throw errors.POST_NOT_FOUND(post)
      const found = await state.listRecords('post-numbers', { prefix: `${key}/`, limit: 2 * MAX_POST_POINTS })
      return { numbers: found.map(({ value }) => toNumbersReply(value)) }
    },
  )

  app.delete(
    '/collections/:id/posts/:post/numbers/:at',
    {
      schema: {
        tags,
        operationId: 'deleteNumbers',
        summary: 'Delete the numbers of a time',
        params: numbersParams,
        response: {
          204: { type: 'null', description: 'Deleted.' },
          ...buildChangeReplies(...postFaults, errors.POST_NOT_FOUND, errors.NUMBERS_NOT_FOUND),
        },
      },
    },
    async ({ params: { id, post, at } }, reply) => {
      await posts.deleteNumbers(id, post, Date.parse(at))
      return reply.code(204).send(null)
    },
  )

  app.get(
    '/collections/:id/reported/history',
    {
      config: { cost: 10 },
      schema: {
        tags,
        operationId: 'getReportedHistory',
        summary: 'History of the reported sums: a point per time with numbers',
        description: 'The first point may be before `from`: it has the sums at that time.',
        params: collectionParams,
        querystring: closedObject({
          from: { ...time, description: 'Beginning of the history.' },
          to: { ...time, description: 'No points after this time.' },
          step: {
            type: 'integer',
            minimum: 1,
            maximum: 2_592_000,
            description: 'Length of a step (s); the reply has at most one point per step.',
          },
        }),
        response: { 200: reportedHistoryReply, ...buildReadReplies(...postReadFaults) },
      },
    },
    async ({ params: { id }, query: { from, to, step } }): Promise<any> => {
      if (!(await state.get(id))) throw errors.COLLECTION_NOT_FOUND(id)
      const points = await readReportedHistory(state, id, {
        from: from === undefined ? 0 : Date.parse(from),
        to: to === undefined ? Date.now() : Date.parse(to),
        step: step === undefined ? undefined : step * 1_000,
      })
      return { points: points.map(({ at, ...sums }) => ({ at: new Date(at).toISOString(), ...sums })) }
    },
  )

  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    const limit = { limit: MAX_FILE_BYTES, tooLarge: commonErrors.BODY_TOO_LARGE }
    scope.addContentTypeParser(CSV_TYPE, createBytesParser(limit, budget))
    scope.post(
      '/collections/:id/reported/numbers',
      {
        config: { ...config, cost: 10 },
        validatorCompiler: skipBodyValidation,
        schema: {
          tags,
          operationId: 'importNumbers',
          summary: 'Import numbers of posts from a CSV file',
          description:
            'A row has a link to the post or its id (`post id`), and counts: `views`, `likes`, `comments`, `shares`, ' +
            '`saves`, `at`, `note`. An empty cell is an absent count. All accepted rows are stored together. At most ' +
            `${MAX_IMPORT_ROWS} rows and 1 MiB.`,
          params: collectionParams,
          querystring: closedObject({
            dryRun: { type: 'boolean', default: false, description: 'True: returns the results and stores nothing.' },
          }),
          body: { content: { [CSV_TYPE]: { schema: { type: 'string', examples: [EXAMPLE_FILE] } } } },
          response: { 200: importedNumbersReply, ...buildChangeReplies(...postFaults) },
        } as never,
      },
      async (request): Promise<any> => {
        const { params, query, body } = request as unknown as NumbersRequest
        const sheet = readNumbers(body?.toString() ?? '', Date.now())
        if (!sheet)
          throw commonErrors.VALIDATION_FAILED(
            'body must have a row of headings such as url,views,likes,at; it has no known ones',
          )
        if (sheet.rows.length > MAX_IMPORT_ROWS)
          throw commonErrors.VALIDATION_FAILED(`body must have at most ${MAX_IMPORT_ROWS} rows; it has more`)
        const rows = await posts.reportMany(params.id, sheet.rows, { isDryRun: query.dryRun === true })
        const refused = rows.filter(({ state: result }) => result === 'refused').length
        const { unknownHeadings } = sheet
        return { stored: rows.length - refused, refused, rows, unknownHeadings: [...unknownHeadings] }
      },
    )
  })
}

interface NumbersRequest {
  readonly params: { readonly id: string }
  readonly query: { readonly dryRun?: boolean }
  readonly body: Buffer | undefined
}
