import type { Replica } from '@influencer-stats/log/replica'
import type { Bus } from '@influencer-stats/runtime/channel'
import { allowOnly } from '@influencer-stats/runtime/allowed-methods'
import { commonErrors } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { Problem } from '@influencer-stats/runtime/problems'
import { buildChangeReplies, storeErrors } from '@influencer-stats/runtime/problem-schemas'
import { skipBodyValidation } from '@influencer-stats/runtime/validation'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Readable } from 'node:stream'
import { convertCsv } from '../csv/read-csv.ts'
import { formatCsv } from '../csv/write-csv.ts'
import { listCharTypes } from '../core/terms.ts'
import { errors } from '../errors.ts'
import { createLineCollector, createPriceCollector, sendImport } from '../import/send-import.ts'
import type { ImportOptions, PricesMainMessage, PricesThreadMessage } from '../messages.ts'
import { examplePrice } from '../sample/examples.ts'
import type { CatalogViews } from '../search/catalog-view.ts'
import { drainBody } from './drain-body.ts'
import { logErrors, setStalenessHeaders } from './read-consistency.ts'
import { CSV_TYPE, LINES_TYPE } from './begin-lines.ts'

const IMPORT_PATH = '/prices/import'

/** True for any parameters, such as a charset. */
const isCsv = (type = '') => type.split(';', 1)[0]!.trim().toLowerCase() === CSV_TYPE

/**
 * Adds the route that imports prices. This thread reads the lines, and the main thread makes the change.
 * @param app a scope without other routes, because its parsers do not read the body
 */
export function addImportRoute(
  app: App,
  bus: Bus<PricesMainMessage, PricesThreadMessage>,
  views: CatalogViews,
  replica: Replica | undefined,
): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser([LINES_TYPE, CSV_TYPE], (_request: FastifyRequest, payload: unknown, done: any) =>
    done(null, payload),
  )
  allowOnly(app, IMPORT_PATH, ['POST'])
  app.post(
    IMPORT_PATH,
    {
      config: { cost: 100 },
      validatorCompiler: skipBodyValidation,
      schema: {
        tags: ['prices'],
        operationId: 'importPrices',
        summary: 'Import prices, one per line',
        description:
          'The import is atomic: the first invalid line is reported, and then nothing is imported. The first line of a ' +
          'CSV file has the headings of an export in any order; an empty cell is an absent field.',
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
          content: {
            [LINES_TYPE]: { schema: { type: 'string', examples: [`${JSON.stringify(examplePrice)}\n`] } },
            [CSV_TYPE]: { schema: { type: 'string', examples: [formatCsv([examplePrice])] } },
          },
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
        throw commonErrors.VALIDATION_FAILED('body must be prices in JSON, one per line, or CSV; received no body')
      const options = request.query as ImportOptions
      const token = await bus.call('importStart', options)
      try {
        const body = request.body as Readable
        // A request that is not read to its end still needs a reply.
        const bytes = body.iterator({ destroyOnReturn: false })
        const chunks = isCsv(request.headers['content-type']) ? convertCsv(bytes) : bytes
        const { terms, usedTerms } = views.getCurrent()
        const collector = replica
          ? createLineCollector()
          : createPriceCollector(options.replace ? new Map() : listCharTypes(terms, usedTerms))
        await sendImport(chunks, collector, (prices) => bus.call('importPiece', token, prices))
        const done = await bus.call('importEnd', token)
        setStalenessHeaders(replica, reply)
        const what = `${done.imported} prices${options.replace ? ' replace all others' : ''}`
        request.audit = { change: 'import', what }
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
