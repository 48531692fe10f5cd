import type { Bus } from '@influencer-stats/runtime/channel'
import { closedObject } from '@influencer-stats/runtime/closed-object'
import { commonErrors } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { buildChangeReplies, buildReadReplies } from '@influencer-stats/runtime/problem-schemas'
import { describePattern } from '@influencer-stats/runtime/validation-errors'
import { faultsSchema } from '../core/faults.ts'
import type { ThreadState } from '../thread-state.ts'
import type { YoutubeMainMessage, YoutubeThreadMessage } from '../messages.ts'

export interface ControlOptions {
  readonly bus: Bus<YoutubeMainMessage, YoutubeThreadMessage>
  readonly thread: ThreadState
}

const { errorReason, gone } = faultsSchema.properties
describePattern(errorReason.pattern, '1 to 64 letters such as quotaExceeded')
describePattern(gone.items.pattern, 'the id of a video such as -4lB5EKS5Uk')

const tags = ['control']
const done = { type: 'null', description: 'Done on every thread.' } as const
const changes = () => buildChangeReplies(commonErrors.VALIDATION_FAILED)

const clockSchema = closedObject(
  { now: { type: 'integer', description: 'ms since 1970' }, frozen: { type: 'boolean' } },
  { title: 'Clock', required: ['now', 'frozen'] },
)

const freezeSchema = closedObject(
  {
    at: {
      type: 'integer',
      minimum: 0,
      maximum: 8_640_000_000_000_000,
      description: 'Time at which the clock stops (ms since 1970); by default the current time.',
    },
  },
  { title: 'Moment', examples: [{ at: 1_763_640_000_000 }] },
)

const countsSchema = closedObject(
  {
    calls: { type: 'integer', description: 'Calls of videos.list, including failed ones.' },
    ids: { type: 'integer', description: 'Video ids that these calls requested.' },
  },
  { title: 'Counts', required: ['calls', 'ids'] },
)

/** Adds the routes under `/control`: faults, clock and counts of the stand-in. They apply to all threads. */
export function addControlRoutes(app: App, { bus, thread }: ControlOptions): void {
  const { meter } = thread
  const clock = () => ({ now: thread.now(), frozen: thread.state.frozenAt !== undefined })
  const faults = () => ({ ...thread.state.faults, quotaLeft: meter.quotaLeft })

  function addRead(path: string, operationId: string, summary: string, schema: object, read: () => object): void {
    const response = { 200: schema, ...buildReadReplies() }
    app.get(path, { schema: { tags, operationId, summary, response } as never }, async () => read())
  }
  function addReset(path: string, operationId: string, summary: string, reset: () => unknown): void {
    const response = { 204: done, ...changes() }
    app.delete(path, { schema: { tags, operationId, summary, response } }, async (_request, reply) => {
      await reset()
      return reply.code(204).send(null)
    })
  }

  addRead('/control/faults', 'getFaults', 'Active faults', faultsSchema, faults)
  app.put(
    '/control/faults',
    {
      schema: {
        tags,
        operationId: 'setFaults',
        summary: 'Replace all faults',
        body: faultsSchema,
        response: { 200: faultsSchema, ...changes() },
      },
    },
    async (request) => {
      await bus.call('setFaults', request.body)
      return faults()
    },
  )
  addReset('/control/faults', 'clearFaults', 'Remove all faults', () => bus.call('setFaults', {}))

  addRead('/control/clock', 'getClock', 'Clock that determines the numbers', clockSchema, clock)
  app.put(
    '/control/clock',
    {
      schema: {
        tags,
        operationId: 'freezeClock',
        summary: 'Stop the clock',
        body: freezeSchema,
        response: { 200: clockSchema, ...changes() },
      },
    },
    async (request) => {
      await bus.call('setClock', request.body.at ?? thread.now())
      return clock()
    },
  )
  addReset('/control/clock', 'releaseClock', 'Resume the clock', () => bus.call('setClock', undefined))

  addRead('/control/counts', 'getCounts', 'Number of calls', countsSchema, () => meter.counts)
  addReset('/control/counts', 'resetCounts', 'Reset the number of calls', () => meter.resetCounts())
}
