import { closedObject } from '@influencer-stats/runtime/closed-object'
import { commonErrors } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { buildReadReplies } from '@influencer-stats/runtime/problem-schemas'
import type { Collections } from '../../campaigns/collections.ts'
import { readResults, type ResultsRange } from '../../campaigns/results-reader.ts'
import type { Collection } from '../../core/campaign.ts'
import type { ZonedDays } from '../../core/history/zoned-days.ts'
import { toIsoTime } from '../../core/iso-time.ts'
import { errors } from '../../errors.ts'
import { collectionParams } from '../collection-schemas.ts'
import { resultsReply } from './results-schemas.ts'
import { DEFAULT_ZONE, openZone, zone } from './zones.ts'

const dayOrTime = {
  anyOf: [
    { type: 'string', format: 'date' },
    { type: 'string', format: 'date-time' },
  ],
} as const

const querystring = closedObject({
  from: {
    ...dayOrTime,
    description: 'First day, or first moment. By default the first day of the campaign, or the time of its creation.',
  },
  to: { ...dayOrTime, description: 'Last day, or end. By default the last day of the campaign, or now.' },
  zone: { ...zone, description: 'IANA time zone of the days, such as Europe/Berlin.' },
})

interface ResultsQuery {
  readonly from?: string
  readonly to?: string
}

/** Registers the route of a collection's results within its dates, or within any other range. */
export function registerResultsRoutes(app: App, { state }: Collections): void {
  app.get(
    '/collections/:id/results',
    {
      schema: {
        tags: ['statistics'],
        operationId: 'getResults',
        summary: "Growth of a collection within the campaign's dates, or within any other range",
        params: collectionParams,
        querystring,
        response: {
          200: resultsReply,
          ...buildReadReplies(
            errors.STATE_UNAVAILABLE,
            commonErrors.VALIDATION_FAILED,
            errors.COLLECTION_NOT_FOUND,
            errors.INVALID_DATE_RANGE,
            errors.ZONE_UNKNOWN,
          ),
        },
      },
    },
    async ({ params: { id }, query }): Promise<any> => {
      const name = query.zone ?? DEFAULT_ZONE
      const days = openZone(name)
      const collection = await state.get(id)
      if (!collection) throw errors.COLLECTION_NOT_FOUND(id)
      const range = toRange(collection, query, days)
      const { from, to, ...results } = await readResults(state, id, range, Date.now())
      return { from: toIsoTime(from), to: toIsoTime(to), zone: name, ...results }
    },
  )
}

const isTime = (text: string) => text.includes('T')

function toRange({ from, to, created }: Collection, query: ResultsQuery, days: ZonedDays): ResultsRange {
  const first = query.from ?? from
  const last = query.to ?? to
  const createdAt = created === undefined ? undefined : Math.floor(created / 1_000)
  const start = first === undefined ? createdAt : isTime(first) ? Date.parse(first) : days.findStart(first)
  const end = last === undefined ? undefined : isTime(last) ? Date.parse(last) : days.findEnd(last)
  if (start !== undefined && end !== undefined && end <= start)
    throw errors.INVALID_DATE_RANGE(`from ${first ?? toIsoTime(start)} to ${last}`)
  return { from: start, to: end }
}
