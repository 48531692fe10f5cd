import { serve } from '../fake-service.ts'

const HOUR_MS = 3_600_000

export interface StatedCounts {
  readonly views: number
  readonly likes?: number
  readonly comments: number
}

/** A video that the test invents. */
export interface TrueVideo {
  /** At the start. */
  readonly views: number
  readonly likes: number
  readonly comments: number
  /** Views an hour; a hundredth of them are likes. */
  readonly pace: number
  /** The owner hides its likes. */
  isHidden?: boolean
  /** The API omits it. */
  isOmitted?: boolean
}

/** The content of one reply. */
export interface Statement {
  /** By the moving clock (ms since 1970). */
  readonly at: number
  /** Own time of the test (ms) when the reply was sent. */
  readonly ownAt: number
  /** Of each requested video; undefined if the reply omitted it. */
  readonly videos: ReadonlyMap<string, StatedCounts | undefined>
}

/** Calls that wait. */
interface Hold {
  /** Requested ids of which no call waits yet. */
  readonly awaited: Set<string>
  readonly isComplete: PromiseWithResolvers<void>
  readonly end: PromiseWithResolvers<void>
}

function waitIn({ awaited, isComplete, end }: Hold, ids: readonly string[]): Promise<void> {
  for (const id of ids) awaited.delete(id)
  if (awaited.size === 0) isComplete.resolve()
  return end.promise
}

export type ApiFault = 'unavailable' | 'key-refused'

const ERRORS: Readonly<Record<ApiFault, readonly [number, object]>> = {
  unavailable: [503, { error: { code: 503, message: 'The service is unavailable.', status: 'UNAVAILABLE' } }],
  'key-refused': [
    403,
    {
      error: {
        code: 403,
        message: 'Requests from referer <empty> are blocked.',
        status: 'PERMISSION_DENIED',
        details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_HTTP_REFERRER_BLOCKED' }],
      },
    },
  ],
}

/** A fake YouTube API. It knows the true counts of each video at each moment. */
export class FakeUpstream {
  readonly #now: () => number
  readonly #ownTime: () => number
  readonly #startedAt: number
  readonly videos = new Map<string, TrueVideo>()
  readonly statements: Statement[] = []
  /** The times of all calls, including failed ones. */
  readonly calls: Pick<Statement, 'at' | 'ownAt'>[] = []
  fault: ApiFault | undefined
  url = ''
  #hold: Hold | undefined

  /** @param now time of the moving clock (ms since 1970) @param time own time of the test (ms) */
  constructor(now: () => number, time: () => number) {
    this.#now = now
    this.#ownTime = time
    this.#startedAt = now()
  }

  async start(): Promise<this> {
    this.url = await serve(async (request, response) => {
      const ids = new URL(request.url!, 'http://youtube').searchParams.get('id')!.split(',')
      const at = this.#now()
      this.calls.push({ at, ownAt: this.#ownTime() })
      const { fault } = this
      const videos = fault ? undefined : this.#countsAt(ids, at)
      if (this.#hold) await waitIn(this.#hold, ids)
      if (videos) this.statements.push({ at, ownAt: this.#ownTime(), videos })
      const [status, body] = videos ? [200, listOf(videos)] : ERRORS[fault!]
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
    return this
  }

  /**
   * Runs `work` while all calls wait here. stats states as the time of its numbers the time at which it begins a call. If the
   * clock moved between this time and the reply, true numbers would have a false time. A call that waits has its counts
   * already, so both are of before the move.
   * @param ids all that stats requests: `work` begins when a call for each of them waits, so that no call is under way
   */
  async holding(ids: readonly string[], work: () => Promise<void>): Promise<void> {
    const hold = {
      awaited: new Set(ids),
      isComplete: Promise.withResolvers<void>(),
      end: Promise.withResolvers<void>(),
    }
    this.#hold = hold
    try {
      await hold.isComplete.promise
      await work()
    } finally {
      this.#hold = undefined
      hold.end.resolve()
    }
  }

  /** The true counts of a video, whether the API states them or not. @param at ms since 1970 */
  truth(id: string, at: number): Required<StatedCounts> {
    const { views, likes, comments, pace } = this.videos.get(id)!
    const grown = Math.floor(((at - this.#startedAt) / HOUR_MS) * pace)
    return { views: views + grown, likes: likes + Math.floor(grown / 100), comments }
  }

  /** The counts that the API states. */
  #countsAt(ids: readonly string[], at: number): Statement['videos'] {
    const videos = new Map<string, StatedCounts | undefined>()
    for (const id of ids) {
      const video = this.videos.get(id)
      if (!video || video.isOmitted) videos.set(id, undefined)
      else {
        const { likes, ...counts } = this.truth(id, at)
        videos.set(id, { ...counts, ...(!video.isHidden && { likes }) })
      }
    }
    return videos
  }
}

const listOf = (videos: Statement['videos']) => ({
  kind: 'youtube#videoListResponse',
  items: [...videos].flatMap(([id, counts]) => (counts ? [itemOf(id, counts)] : [])),
})

const itemOf = (id: string, { views, likes, comments }: StatedCounts) => ({
  kind: 'youtube#video',
  id,
  snippet: {
    title: `Video ${id}`,
    channelId: 'UC0000000000000000000000',
    channelTitle: 'Channel',
    publishedAt: '2026-02-01T00:30:00Z',
  },
  statistics: {
    viewCount: String(views),
    ...(likes !== undefined && { likeCount: String(likes) }),
    commentCount: String(comments),
  },
})
