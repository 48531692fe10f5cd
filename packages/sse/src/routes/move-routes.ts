import type { Budget } from '@influencer-stats/runtime/budget'
import { closedObject } from '@influencer-stats/runtime/closed-object'
import { commonErrors } from '@influencer-stats/runtime/errors'
import { writeExport } from '@influencer-stats/runtime/export-lines'
import type { App } from '@influencer-stats/runtime/http'
import { LINES_TYPE, registerImportRoute } from '@influencer-stats/runtime/import-route'
import { buildChangeReplies, storeErrors } from '@influencer-stats/runtime/problem-schemas'
import { formatReceived } from '@influencer-stats/runtime/received-value'
import { createValidator } from '@influencer-stats/runtime/validation'
import { describeValidationError } from '@influencer-stats/runtime/validation-errors'
import { Readable } from 'node:stream'
import { EXPORT_HEAD, toExportLines, type MovedEvent } from '../core/moved-event.ts'
import { errors, logWriteErrors } from '../errors.ts'
import type { ValuesOptions } from './value-routes.ts'

const tags = ['system']
/** Size of a line in relation to its value, at most: each byte may take six in JSON. */
const MAX_LINE_RATIO = 6
const MAX_OVERHEAD_BYTES = 1_048_576

const topic = { type: 'string', minLength: 1, maxLength: 65_536 } as const
const text = { type: 'string' } as const
const time = { type: 'integer', minimum: 0 } as const
const validate = createValidator(
  closedObject(
    {
      at: time,
      topic,
      value: text,
      more: closedObject({
        alternates: { type: 'array', items: topic },
        isPrivate: { const: true },
        id: text,
        type: text,
        retry: time,
      }),
    },
    { required: ['at', 'topic', 'value'] },
  ),
  'body',
)

/** Returns an event, or the reason why the text is none. */
function parseEvent(line: string): MovedEvent | string {
  let event: unknown
  try {
    event = JSON.parse(line)
  } catch {
    return `it must be JSON; received ${formatReceived(line)}`
  }
  return validate(event) ? (event as MovedEvent) : describeValidationError(validate.errors!, 'line')
}

/** Registers the routes that move all stored values to another service. */
export async function registerMoveRoutes(
  app: App,
  { broker, history, permissions, maxValue, budget }: ValuesOptions & { readonly budget: Budget },
): Promise<void> {
  const access = 'change' as const
  const exportSchema = {
    tags,
    operationId: 'exportAll',
    summary: 'Export the stored values of all topics',
    description:
      'One JSON object per line, in the order of publication, private updates included. The last line has the SHA-256 of ' +
      'all others. See `pnpm sse export`.',
    response: {
      200: { description: 'All stored values.', content: { [LINES_TYPE]: { schema: text } } },
      ...buildChangeReplies(),
    },
  }
  app.get(
    '/export',
    { config: { access, cost: 100 }, exposeHeadRoute: false, schema: exportSchema as never },
    async (request, reply) => {
      await permissions.authorize('close', request.headers)
      request.audit = { change: 'export', what: 'all' }
      const lines = toExportLines(history.getState())
      return reply.type(LINES_TYPE).send(Readable.from(writeExport(EXPORT_HEAD, lines)))
    },
  )

  await registerImportRoute(app, {
    limit: MAX_LINE_RATIO * maxValue + MAX_OVERHEAD_BYTES,
    budget,
    access,
    example: '{"at":1764547200123,"topic":"moved","value":"42"}',
    schema: {
      tags,
      operationId: 'importValues',
      summary: 'Import lines of an export, all or none',
      description:
        'Without the first and the last line of the export. The values get new ids and retain their times; open streams ' +
        'receive them. A value is omitted if its topic has one of the same time or a later one. ' +
        'Values of the same time belong into one request. See `pnpm sse import`.',
      response: {
        200: closedObject(
          { imported: { type: 'integer', description: 'Number of values that were not known.' } },
          { title: 'Imported values', required: ['imported'] },
        ),
        ...buildChangeReplies(
          errors.IMPORT_LINE_INVALID,
          errors.FANOUT_BACKLOG_FULL,
          commonErrors.BODY_TOO_LARGE,
          ...logWriteErrors,
          ...storeErrors,
        ),
      },
    },
    authorize: ({ headers }) => permissions.authorize('close', headers),
    parse: parseEvent,
    createError: errors.IMPORT_LINE_INVALID,
    async apply(events, request) {
      request.audit = { change: 'import', what: `${events.length} values` }
      return { imported: events.length === 0 ? 0 : await broker.importEvents(events) }
    },
  })
}
