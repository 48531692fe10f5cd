import type { Replica } from '@influencer-stats/log/replica'
import type { Bus } from '@influencer-stats/runtime/channel'
import { commonErrors } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { Problem } from '@influencer-stats/runtime/problems'
import { buildChangeReplies, buildReadReplies, storeErrors } from '@influencer-stats/runtime/problem-schemas'
import { skipBodyValidation } from '@influencer-stats/runtime/validation'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Readable } from 'node:stream'
import { errors } from '../errors.ts'
import { examplePrice } from '../sample/examples.ts'
import type { ImportOptions, PricesMainMessage, PricesThreadMessage } from '../messages.ts'
import { idSchema, priceReplySchema } from '../price-schema.ts'
import { addExportRoute } from './export.ts'
import {
  consistencyParameters,
  consistencyErrors,
  logErrors,
  waitForConsistency,
  setStalenessHeaders,
} from './read-consistency.ts'
import { drainBody } from './drain-body.ts'

const tags = ['prices']
const LINES_TYPE = 'application/x-ndjson'
const params = { type: 'object', required: ['id'], properties: { id: idSchema } } as const

/**
 * Adds the routes that read, delete, export and import prices. The main thread makes every change.
 * @param sendTimeout maximum time for which a client may delay a part of its reply (ms)
 */
export async function addPriceRoutes(
  app: App,
  bus: Bus<PricesMainMessage, PricesThreadMessage>,
  replica: Replica | undefined,
  sendTimeout: number,
): Promise<void> {
  app.get(
    '/prices/:id',
    {
      schema: {
        tags,
        operationId: 'getPrice',
        summary: 'Read a price',
        params,
        querystring: { type: 'object', additionalProperties: false, properties: consistencyParameters },
        response: {
          200: priceReplySchema,
          ...buildReadReplies(commonErrors.VALIDATION_FAILED, errors.PRICE_NOT_FOUND, ...consistencyErrors),
        },
      },
    },
    async ({ params: { id }, query }, reply) => {
      await waitForConsistency(replica, query, reply)
      const price = await bus.call('get', id)
      if (!price) throw errors.PRICE_NOT_FOUND(id)
      return price as never
    },
  )

  app.delete(
    '/prices/:id',
    {
      schema: {
        tags,
        operationId: 'deletePrice',
        summary: 'Delete a price',
        params,
        response: {
          204: { type: 'null', description: 'Deleted.' },
          ...buildChangeReplies(...storeErrors, ...logErrors, commonErrors.VALIDATION_FAILED, errors.PRICE_NOT_FOUND),
        },
      },
    },
    async (request, reply) => {
      const wasPresent = await bus.call('remove', request.params.id)
      setStalenessHeaders(replica, reply)
      if (!wasPresent) throw errors.PRICE_NOT_FOUND(request.params.id)
      return reply.code(204).send(null)
    },
  )

  addExportRoute(app, bus, replica, sendTimeout)
  await app.register(async (scope: App) => addImportRoute(scope, bus, replica))
}

function addImportRoute(
  app: App,
  bus: Bus<PricesMainMessage, PricesThreadMessage>,
  replica: Replica | undefined,
): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(LINES_TYPE, (_request: FastifyRequest, payload: unknown, done: any) => done(null, payload))
  app.post(
    '/prices/import',
    {
      config: { cost: 100 },
      validatorCompiler: skipBodyValidation,
      schema: {
        tags,
        operationId: 'importPrices',
        summary: 'Import prices, one per line',
        description: 'The import is atomic: the first invalid line is reported, and then nothing is imported.',
        querystring: {
          type: 'object',
          additionalProperties: false,
          properties: {
            replace: { type: 'boolean', default: false, description: 'True: the import replaces all prices.' },
            empty: {
              type: 'boolean',
              default: false,
              description: 'True: with `replace`, an import without prices removes all prices.',
            },
          },
        },
        body: {
          content: { [LINES_TYPE]: { schema: { type: 'string', examples: [`${JSON.stringify(examplePrice)}\n`] } } },
        },
        response: {
          200: {
            type: 'object',
            title: 'Imported',
            required: ['imported', 'prices'],
            additionalProperties: false,
            properties: {
              imported: { type: 'integer', description: 'Number of imported prices; a repeated id counts each time.' },
              prices: { type: 'integer', description: 'Number of prices in the catalog.' },
            },
          },
          ...buildChangeReplies(
            ...storeErrors,
            ...logErrors,
            commonErrors.VALIDATION_FAILED,
            errors.BAD_LINE,
            errors.CATALOG_FULL,
            errors.IMPORT_EMPTY,
            errors.IMPORT_RUNNING,
            errors.IMPORT_LOST,
            errors.TYPE_CONFLICT,
          ),
        },
      } as never,
    },
    async (request: FastifyRequest, reply: FastifyReply) => {
      // A missing body is more likely a mistake than an intended empty catalog.
      if (!request.body)
        throw commonErrors.VALIDATION_FAILED(`body must be prices in JSON, one a line; received no body`)
      const token = await bus.call('importStart', request.query as ImportOptions)
      try {
        const body = request.body as Readable
        // A request that is not read to its end still needs a reply.
        for await (const chunk of body.iterator({ destroyOnReturn: false })) {
          await bus.call('importChunk', token, new Uint8Array(chunk as Buffer))
        }
        const done = await bus.call('importEnd', token)
        setStalenessHeaders(replica, reply)
        const { replace } = request.query as ImportOptions
        request.audit = { change: 'import', what: `${done.imported} prices${replace ? ' replace all others' : ''}` }
        return done
      } catch (error) {
        await bus.call('importAbort', token)
        drainBody(request)
        if (!(error instanceof Problem) && request.raw.destroyed && !request.raw.complete)
          throw commonErrors.BAD_REQUEST('the request was aborted')
        throw error
      }
    },
  )
}
