import type { Replica } from '@influencer-stats/log/replica'
import type { Bus } from '@influencer-stats/runtime/channel'
import { allowOnly } from '@influencer-stats/runtime/allowed-methods'
import { commonErrors } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { readContent, type GunzipOptions } from '@influencer-stats/runtime/gunzip-content'
import { Problem } from '@influencer-stats/runtime/problems'
import { buildChangeReplies, storeErrors } from '@influencer-stats/runtime/problem-schemas'
import { skipBodyValidation } from '@influencer-stats/runtime/validation'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { checkPrices, MAX_PROBLEMS, PROBLEM_CODES } from '../check/catalog-check.ts'
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
import { CSV_TYPE, LINES_TYPE } from './media-types.ts'

const IMPORT_PATH = '/prices/import'

const importedSchema = {
  type: 'object',
  title: 'Imported',
  required: ['imported', 'prices'],
  additionalProperties: false,
  properties: {
    imported: { type: 'integer', description: 'Number of imported prices; a repeated id counts each time.' },
    prices: { type: 'integer', description: 'Number of prices in the catalog.' },
  },
} as const

const checkReportSchema = {
  type: 'object',
  title: 'CheckReport',
  required: ['prices', 'problems', 'more'],
  additionalProperties: false,
  properties: {
    prices: { type: 'integer', description: 'Number of valid lines.' },
    problems: {
      type: 'array',
      description: `The problems with the lowest lines: at most ${MAX_PROBLEMS}.`,
      items: {
        type: 'object',
        required: ['code', 'line', 'detail'],
        additionalProperties: false,
        properties: {
          code: { type: 'string', enum: PROBLEM_CODES },
          line: { type: 'integer' },
          other: { type: 'integer', description: 'The earlier line that the line repeats or overlaps.' },
          detail: { type: 'string' },
        },
      },
    },
    more: { type: 'boolean', description: 'True if there are further problems.' },
  },
} as const

/** True for any parameters, such as a charset. */
const isCsv = (type = '') => type.split(';', 1)[0]!.trim().toLowerCase() === CSV_TYPE

/** Returns an error, or the reason that the client has disconnected. */
const toAbortProblem = (error: unknown, { raw }: FastifyRequest) =>
  !(error instanceof Problem) && raw.destroyed && !raw.complete
    ? commonErrors.BAD_REQUEST('the request was aborted')
    : error

/**
 * Adds the route that imports prices. This thread reads the lines, and the main thread makes the change.
 * @param app a scope without other routes, because its parsers do not read the body
 * @param content limits of a compressed body
 */
export function addImportRoute(
  app: App,
  bus: Bus<PricesMainMessage, PricesThreadMessage>,
  views: CatalogViews,
  replica: Replica | undefined,
  maxPrices: number,
  content: GunzipOptions,
): void {
  /** A thread checks one file at a time, because each takes 70 bytes per price. */
  let isChecking = false
  app.removeAllContentTypeParsers()
  app.addContentTypeParser([LINES_TYPE, CSV_TYPE], (_request: FastifyRequest, payload: unknown, done: any) =>
    done(null, payload),
  )
  allowOnly(app, IMPORT_PATH, ['POST'])
  app.post(
    IMPORT_PATH,
    {
      config: { cost: 100, contentEncodings: ['gzip'] },
      validatorCompiler: skipBodyValidation,
      schema: {
        tags: ['prices'],
        operationId: 'importPrices',
        summary: 'Import prices, one per line',
        description:
          'The import is atomic: the first invalid line is reported, and then nothing is imported. The first line of a ' +
          'CSV file has the headings of an export in any order; an empty cell is an absent field. The body may be ' +
          'compressed (`Content-Encoding: gzip`).',
        querystring: {
          type: 'object',
          additionalProperties: false,
          properties: {
            replace: { type: 'boolean', default: false, description: 'True: the import replaces all prices.' },
            check: {
              type: 'boolean',
              default: false,
              description:
                'True: nothing is imported. The reply lists all invalid lines, and the lines whose prices repeat each ' +
                'other or overlap.',
            },
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
          200: { anyOf: [importedSchema, checkReportSchema] },
          ...buildChangeReplies(
            ...storeErrors,
            ...logErrors,
            commonErrors.VALIDATION_FAILED,
            commonErrors.BAD_GZIP,
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
      const { check, ...options } = request.query as ImportOptions & { readonly check: boolean }
      const format = isCsv(request.headers['content-type']) ? 'csv' : 'ndjson'
      const bytes = readContent(request.raw, content)
      if (check) {
        if (isChecking) throw errors.IMPORT_RUNNING('a file is being checked')
        isChecking = true
        const { terms, usedTerms } = views.getCurrent()
        const types = options.replace ? new Map() : listCharTypes(terms, usedTerms)
        try {
          return await checkPrices(bytes, { format, types, maxPrices })
        } catch (error) {
          throw toAbortProblem(error, request)
        } finally {
          isChecking = false
          drainBody(request)
        }
      }
      const token = await bus.call('importStart', options)
      try {
        const chunks = format === 'csv' ? convertCsv(bytes) : bytes
        const collector = replica ? createLineCollector() : createPriceCollector()
        await sendImport(chunks, collector, (prices) => bus.call('importPiece', token, prices))
        const done = await bus.call('importEnd', token).catch((error: unknown) => {
          throw collector.locate(error)
        })
        setStalenessHeaders(replica, reply)
        const what = `${done.imported} prices${options.replace ? ' replace all others' : ''}`
        request.audit = { change: 'import', what }
        return done
      } catch (error) {
        await bus.call('importAbort', token)
        drainBody(request)
        throw toAbortProblem(error, request)
      }
    },
  )
}
