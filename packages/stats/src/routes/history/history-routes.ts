import { Readable } from 'node:stream'
import { closedObject } from '@influencer-stats/runtime/closed-object'
import { commonErrors } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { buildReadReplies } from '@influencer-stats/runtime/problem-schemas'
import type { FastifyReply } from 'fastify'
import type { FromSchema } from 'json-schema-to-ts'
import type { Collections } from '../../campaigns/collections.ts'
import { diffEdits } from '../../core/edits.ts'
import type { Point } from '../../core/history-points.ts'
import { errors } from '../../errors.ts'
import { selectStepPages, readHistoryPages } from '../../campaigns/history-pages.ts'
import { toHistoryId } from '../../state/stats-state.ts'
import { collectionParams, videoParams } from '../collection-schemas.ts'
import { historyReply } from '../stats-schemas.ts'
import { resolveLinks } from '../resolve-links.ts'
import { DEFAULT_ZONE, openZone, zone } from './zones.ts'

const time = { type: 'string', format: 'date-time' } as const

const querystring = closedObject({
  from: { ...time, description: 'No points before this time.' },
  to: { ...time, description: 'No points after this time.' },
  step: {
    anyOf: [
      { type: 'integer', minimum: 1, maximum: 2_592_000 },
      { type: 'string', enum: ['day'] },
    ],
    description: 'Length of a step (s), or `day`: the reply has at most one point per step, the last one.',
  },
  zone: { ...zone, description: 'IANA time zone of the days of `step=day`, such as Europe/Berlin.' },
})

type HistoryQuery = FromSchema<typeof querystring>

/**
 * Registers the routes with the history of the sums of collections and of videos.
 * @param retention maximum age of points (ms)
 */
export function registerHistoryRoutes(app: App, { state }: Collections, retention: number): void {
  async function send(reply: FastifyReply, id: string, { from, to, step, zone: name }: HistoryQuery): Promise<never> {
    const now = Date.now()
    const first = Math.max(from === undefined ? 0 : Date.parse(from), now - retention)
    const pages = readHistoryPages(state, id, first, to === undefined ? now : Date.parse(to))
    const chosen = step === undefined ? pages : selectStepPages(pages, toSteps(step, name))
    // The first page is read before the reply begins: a fault of the state then gives an error reply.
    const firstPage = await chosen.next()
    const body = Readable.from(toJson(firstPage, chosen), { objectMode: false })
    return reply.type('application/json; charset=utf-8').send(body) as never
  }

  app.get(
    '/collections/:id/stats/history',
    {
      schema: {
        tags: ['statistics'],
        operationId: 'getHistory',
        summary: 'History of the sums: one point per change; of points older than a day, about one per hour',
        params: collectionParams,
        querystring,
        response: {
          200: historyReply,
          ...buildReadReplies(
            errors.STATE_UNAVAILABLE,
            commonErrors.VALIDATION_FAILED,
            errors.COLLECTION_NOT_FOUND,
            errors.ZONE_UNKNOWN,
          ),
        },
      },
    },
    async ({ params: { id }, query }, reply) => {
      if (!(await state.get(id))) throw errors.COLLECTION_NOT_FOUND(id)
      return send(reply as never, id, query)
    },
  )

  app.get(
    '/collections/:id/videos/:video/history',
    {
      preValidation: resolveLinks,
      schema: {
        tags: ['videos'],
        operationId: 'getVideoHistory',
        summary: 'History of a video: about one point per hour, if its numbers changed',
        params: videoParams,
        querystring,
        response: {
          200: historyReply,
          ...buildReadReplies(
            errors.STATE_UNAVAILABLE,
            commonErrors.VALIDATION_FAILED,
            errors.COLLECTION_NOT_FOUND,
            errors.VIDEO_NOT_IN_COLLECTION,
            errors.ZONE_UNKNOWN,
          ),
        },
      },
    },
    async ({ params: { id, video }, query }, reply) => {
      const collection = await state.get(id)
      if (!collection) throw errors.COLLECTION_NOT_FOUND(id)
      if (!collection.videos.includes(video)) throw errors.VIDEO_NOT_IN_COLLECTION()
      return send(reply as never, toHistoryId(video), query)
    },
  )
}

/** Returns the function from a time (ms) to its step. @throws Problem `ZONE_UNKNOWN` */
const toSteps = (step: number | 'day', zoneName = DEFAULT_ZONE): ((at: number) => number | string) =>
  step === 'day' ? openZone(zoneName).getDay : (at) => Math.floor(at / (step * 1_000))

/** Yields the reply page by page. */
async function* toJson(first: IteratorResult<Point[]>, more: AsyncIterable<Point[]>): AsyncGenerator<string> {
  let text = '{"points":['
  let last: Point | undefined
  const addPoints = (points: Point[]) => {
    for (const point of points) {
      const { impressions, engagements, score, videos } = point
      const sums = { at: new Date(point.at).toISOString(), impressions, engagements, score, videos }
      text += (last ? ',' : '') + JSON.stringify({ ...sums, ...(last && diffEdits(point, last)) })
      last = point
    }
  }
  if (!first.done) addPoints(first.value)
  for await (const points of more) {
    yield text
    text = ''
    addPoints(points)
  }
  yield `${text}]}`
}
