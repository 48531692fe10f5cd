import type { Budget } from '@influencer-stats/runtime/budget'
import { commonErrors } from '@influencer-stats/runtime/errors'
import { writeExport } from '@influencer-stats/runtime/export-lines'
import type { App } from '@influencer-stats/runtime/http'
import { LINES_TYPE, registerImportRoute } from '@influencer-stats/runtime/import-route'
import { buildChangeReplies, buildReadReplies, storeErrors } from '@influencer-stats/runtime/problem-schemas'
import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import { Readable } from 'node:stream'
import type { Collections } from '../campaigns/collections.ts'
import { errors } from '../errors.ts'
import { exportDatabase } from '../state/export-database.ts'
import { EXPORT_HEAD, isCollectionLine, MAX_IMPORT_BYTES } from '../core/export-line.ts'
import { parseExportLine } from './import-lines.ts'

const tags = ['system']
const importedReply = {
  type: 'object',
  title: 'Imported lines',
  required: ['lines', 'newer'],
  additionalProperties: false,
  properties: {
    lines: { type: 'integer', description: 'Number of applied lines.' },
    newer: { type: 'integer', description: 'Number of collections that were not replaced, because they are newer.' },
  },
} as const

const EXAMPLE_LINE =
  '{"type":"collection","collection":{"id":"imported","videos":["-4lB5EKS5Uk"],"revision":1764547200123456},"numbers":{}}'

/**
 * Registers the routes that move all data to another service.
 * @param database undefined if the state is not a database
 */
export async function registerMoveRoutes(
  app: App,
  collections: Collections,
  database: SharedLevel['db'] | undefined,
  budget: Budget,
): Promise<void> {
  const content = { content: { [LINES_TYPE]: { schema: { type: 'string' } } } }
  const exportSchema = {
    tags,
    operationId: 'exportAll',
    summary: 'Export all collections, histories and details of videos',
    description:
      'One JSON object per line, from one snapshot. The last line has the SHA-256 of all others. See `pnpm stats export`.',
    response: {
      200: { description: 'All data of this node.', ...content },
      ...buildReadReplies(errors.IMPORT_NOT_SUPPORTED),
    },
  }
  app.get(
    '/export',
    { config: { cost: 100 }, exposeHeadRoute: false, schema: exportSchema as never },
    async (_request, reply) => {
      if (!database) throw errors.IMPORT_NOT_SUPPORTED()
      return reply.type(LINES_TYPE).send(Readable.from(writeExport(EXPORT_HEAD, exportDatabase(database))))
    },
  )

  await registerImportRoute(app, {
    limit: MAX_IMPORT_BYTES,
    budget,
    example: EXAMPLE_LINE,
    schema: {
      tags,
      operationId: 'importLines',
      summary: 'Import lines of an export, all or none',
      description:
        'Without the first and the last line of the export; at most 2 MiB. A collection replaces only an older version. ' +
        'Points and details are added. An import can be repeated. See `pnpm stats import`.',
      response: {
        200: importedReply,
        ...buildChangeReplies(
          errors.IMPORT_LINE_INVALID,
          errors.IMPORT_NOT_SUPPORTED,
          errors.STATE_UNAVAILABLE,
          errors.LOG_UNAVAILABLE,
          errors.OUTCOME_UNKNOWN,
          commonErrors.BODY_TOO_LARGE,
          ...storeErrors,
        ),
      },
    },
    authorize() {
      if (!database) throw errors.IMPORT_NOT_SUPPORTED()
    },
    parse: parseExportLine,
    createError: errors.IMPORT_LINE_INVALID,
    async apply(lines, request) {
      request.audit = { change: 'import', what: `${lines.filter(isCollectionLine).length} collections` }
      return { lines: lines.length, newer: (await collections.importLines(lines)) ?? 0 }
    },
  })
}
