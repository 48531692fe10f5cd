import type { Bus } from '@influencer-stats/runtime/channel'
import { closedObject } from '@influencer-stats/runtime/closed-object'
import { commonErrors } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { buildChangeReplies, buildReadReplies } from '@influencer-stats/runtime/problem-schemas'
import { describePattern } from '@influencer-stats/runtime/validation-errors'
import { faultsSchema } from '../core/faults.ts'
import { parseUploadId } from '../world/channels.ts'
import {
  additionSchema,
  additionsSchema,
  channelFlagsSchema,
  CHANNEL_ID_PATTERN,
  MAX_ADDED,
  PLAYLIST_ID_PATTERN,
  VIDEO_ID_PATTERN,
  type Addition,
} from '../world/world-changes.ts'
import type { ThreadState } from '../thread-state.ts'
import type { YoutubeMainMessage, YoutubeThreadMessage } from '../messages.ts'

export interface ControlOptions {
  readonly bus: Bus<YoutubeMainMessage, YoutubeThreadMessage>
  readonly thread: ThreadState
}

const { errorReason, gone } = faultsSchema.properties
describePattern(errorReason.pattern, '1 to 64 letters such as quotaExceeded')
describePattern(gone.items.pattern, 'the id of a video such as -4lB5EKS5Uk')

describePattern(VIDEO_ID_PATTERN, 'the id of a video such as -4lB5EKS5Uk')
describePattern(CHANNEL_ID_PATTERN, 'the id of a channel such as UC0007000700070007000700')
describePattern(PLAYLIST_ID_PATTERN, 'the id of a playlist such as PL00070007000700070007000700070007')

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
    calls: { type: 'integer', description: 'Calls of all methods, including failed ones.' },
    ids: { type: 'integer', description: 'Video ids that the calls of `videos.list` requested.' },
    channels: { type: 'integer', description: 'Calls of `channels.list`.' },
    playlists: { type: 'integer', description: 'Calls of `playlists.list`.' },
    playlistItems: { type: 'integer', description: 'Calls of `playlistItems.list`.' },
  },
  { title: 'Counts', required: ['calls', 'ids', 'channels', 'playlists', 'playlistItems'] },
)

const refuse = (detail: string) => commonErrors.VALIDATION_FAILED(detail)

/** @throws Problem `VALIDATION_FAILED` if the schema accepts an addition that has no meaning */
function checkAddition({ channel, playlist, videos }: Addition, { world, state }: ThreadState): void {
  if ((channel === undefined) === (playlist === undefined)) throw refuse('body must have either channel or playlist')
  if (channel !== undefined && !world.getChannel(channel)) throw refuse(`body/channel: there is no channel ${channel}`)
  if (playlist !== undefined && !world.getPlaylist(playlist))
    throw refuse(`body/playlist: there is no playlist ${playlist}`)
  const upload = channel !== undefined && videos.find(({ id }) => parseUploadId(id))
  if (upload) throw refuse(`body/videos: ${upload.id} is the id of an upload that exists already`)
  const other =
    playlist !== undefined && videos.find((video) => Object.keys(video).some((name) => !['id', 'at'].includes(name)))
  if (other) throw refuse(`body/videos: ${other.id} may only have id and at in a playlist`)
  if (state.uploads.length + state.items.length + videos.length > MAX_ADDED)
    throw refuse(`at most ${MAX_ADDED} videos can be added`)
}

/** Adds the routes under `/control`: faults, clock, uploads, channels and counts of the stand-in. They apply to all threads. */
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

  const additions = () => ({ uploads: [...thread.state.uploads], items: [...thread.state.items] })
  addRead('/control/uploads', 'getUploads', 'Added videos', additionsSchema, additions)
  app.put(
    '/control/uploads',
    {
      schema: {
        tags,
        operationId: 'addUploads',
        summary: 'Publish videos on a channel, or add videos to a playlist',
        description: 'Videos whose time lies ahead of the clock appear once the clock reaches it.',
        body: additionSchema,
        response: { 200: additionsSchema, ...changes() },
      },
    },
    async (request) => {
      checkAddition(request.body, thread)
      await bus.call('addVideos', request.body, thread.now())
      return additions()
    },
  )
  addReset('/control/uploads', 'clearUploads', 'Remove all added videos', () => bus.call('clearAdditions'))

  addRead('/control/channels', 'getChannelFlags', 'Changed channels', channelFlagsSchema, () => thread.state.channels)
  app.put(
    '/control/channels',
    {
      schema: {
        tags,
        operationId: 'setChannelFlags',
        summary: 'Replace the lists of channels that hide their subscribers or are removed',
        body: channelFlagsSchema,
        response: { 200: channelFlagsSchema, ...changes() },
      },
    },
    async (request) => {
      await bus.call('setChannels', request.body)
      return thread.state.channels
    },
  )
  addReset('/control/channels', 'clearChannelFlags', 'Restore all channels', () => bus.call('setChannels', {}))
}
