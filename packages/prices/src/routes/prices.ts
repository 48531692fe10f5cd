import type { Bus } from '@influencer-stats/runtime/channel'
import { errors as house } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { Problem } from '@influencer-stats/runtime/problems'
import { changeReplies, readReplies, storeFaults } from '@influencer-stats/runtime/replies'
import type { FastifyRequest } from 'fastify'
import { isUtf8 } from 'node:buffer'
import type { Readable } from 'node:stream'
import type { Price } from '../core/price.ts'
import { errors } from '../errors.ts'
import type { ImportOptions, ToMain, ToThread } from '../messages.ts'
import { idSchema, priceBody, priceReply } from '../price-schema.ts'
import { dropRest, unreadBody } from './raw-body.ts'

const tags = ['prices']
const JSON_TYPE = 'application/json'
const LINES_TYPE = 'application/x-ndjson'
const params = { type: 'object', required: ['id'], properties: { id: idSchema } } as const

/** The prices themselves: read, put, delete, import. Main makes every change. */
export async function priceRoutes(app: App, bus: Bus<ToMain, ToThread>): Promise<void> {
  readJson(app)
  app.get(
    '/prices/:id',
    {
      schema: {
        tags,
        summary: 'A price with all that it has',
        params,
        response: { 200: priceReply, ...readReplies(house.VALIDATION_FAILED, errors.PRICE_NOT_FOUND) },
      },
    },
    async ({ params: { id } }) => {
      const price = await bus.call('get', id)
      if (!price) throw errors.PRICE_NOT_FOUND(id)
      return price as never
    },
  )

  app.put(
    '/prices/:id',
    {
      schema: {
        tags,
        summary: 'Make or replace a price',
        description: 'Answered when it is durable and every thread finds it.',
        params,
        body: priceBody,
        response: {
          200: priceReply,
          201: priceReply,
          ...changeReplies(
            ...storeFaults,
            house.VALIDATION_FAILED,
            errors.CATALOG_FULL,
            errors.ID_MISMATCH,
            errors.TYPE_CONFLICT,
            errors.CHARACTERISTIC_TWICE,
            errors.DATES_REVERSED,
          ),
        },
      },
    },
    async (request, reply) => {
      const { id } = request.params
      const body = request.body as Omit<Price, 'id'> & { id?: string }
      if (body.id !== undefined && body.id.toLowerCase() !== id.toLowerCase()) throw errors.ID_MISMATCH()
      const { price, created } = await bus.call('put', { ...body, id })
      return reply.code(created ? 201 : 200).send(price as never)
    },
  )

  app.delete(
    '/prices/:id',
    {
      schema: {
        tags,
        summary: 'Delete a price',
        params,
        response: {
          204: { type: 'null', description: 'Deleted.' },
          ...changeReplies(...storeFaults, house.VALIDATION_FAILED, errors.PRICE_NOT_FOUND),
        },
      },
    },
    async (request, reply) => {
      if (!(await bus.call('remove', request.params.id))) throw errors.PRICE_NOT_FOUND(request.params.id)
      return reply.code(204).send(null)
    },
  )

  await app.register(async (scope: App) => importRoute(scope, bus))
}

/** As Fastify reads JSON, but what is not UTF-8 is refused: as text it would become U+FFFD, and two names one. */
function readJson(app: App): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser(JSON_TYPE)
  app.addContentTypeParser(JSON_TYPE, { parseAs: 'buffer' }, (request: FastifyRequest, body: Buffer, done: any) =>
    isUtf8(body) ? parse(request, body.toString(), done) : done(house.BAD_JSON('not UTF-8')),
  )
}

function importRoute(app: App, bus: Bus<ToMain, ToThread>): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(LINES_TYPE, (_request: FastifyRequest, payload: unknown, done: any) => done(null, payload))
  app.post(
    '/prices/import',
    {
      validatorCompiler: unreadBody,
      schema: {
        tags,
        summary: 'Import prices, one a line',
        description: 'All or nothing: the first line that is wrong is named, and nothing was imported then.',
        querystring: {
          type: 'object',
          additionalProperties: false,
          properties: {
            replace: { type: 'boolean', default: false, description: 'Begin with an empty catalog.' },
            empty: { type: 'boolean', default: false, description: 'Replace even if nothing is imported.' },
          },
        },
        body: { content: { [LINES_TYPE]: { schema: { type: 'string' } } } },
        response: {
          200: {
            type: 'object',
            required: ['imported', 'prices'],
            additionalProperties: false,
            properties: {
              imported: { type: 'integer', description: 'Lines that were prices.' },
              prices: { type: 'integer', description: 'Prices there are now.' },
            },
          },
          ...changeReplies(
            ...storeFaults,
            house.VALIDATION_FAILED,
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
    async (request: FastifyRequest) => {
      // Nothing at all is more likely a mistake than a wish for an empty catalog.
      if (!request.body) throw house.VALIDATION_FAILED('there is no body')
      const token = await bus.call('importStart', request.query as ImportOptions)
      try {
        const body = request.body as Readable
        // A request that is not read to its end is still to be answered.
        for await (const chunk of body.iterator({ destroyOnReturn: false })) {
          await bus.call('importChunk', token, new Uint8Array(chunk as Buffer))
        }
        return await bus.call('importEnd', token)
      } catch (error) {
        await bus.call('importAbort', token)
        dropRest(request)
        if (!(error instanceof Problem) && request.raw.destroyed && !request.raw.complete)
          throw house.BAD_REQUEST('the request broke off')
        throw error
      }
    },
  )
}
