import { serve } from '../serve.ts'

const HOUR = 3_600_000

export interface Counts {
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

/** What one reply stated. */
export interface Statement {
  /** By the moving clock (ms since 1970), after the numbers were computed. */
  readonly at: number
  /** By the monotonic clock of the test (ms). */
  readonly steady: number
  /** Of each requested video; undefined if the reply omitted it. */
  readonly videos: ReadonlyMap<string, Counts | undefined>
}

export type Fault = 'unavailable' | 'key-refused'

const ERRORS: Readonly<Record<Fault, readonly [number, object]>> = {
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

/** The YouTube API as far as the test states it: it knows the true counts of each video at each moment. */
export class Upstream {
  readonly #now: () => number
  readonly #startedAt: number
  readonly videos = new Map<string, TrueVideo>()
  readonly statements: Statement[] = []
  /** When it was called, whatever it replied. */
  readonly calls: Pick<Statement, 'at' | 'steady'>[] = []
  fault: Fault | undefined
  url = ''

  constructor(now: () => number) {
    this.#now = now
    this.#startedAt = now()
  }

  async start(): Promise<this> {
    this.url = await serve((request, response) => {
      const ids = new URL(request.url!, 'http://youtube').searchParams.get('id')!.split(',')
      const [status, body] = this.#reply(ids)
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
    return this
  }

  /** The true counts of a video, whether the API states them or not. @param at ms since 1970 */
  truth(id: string, at: number): Required<Counts> {
    const { views, likes, comments, pace } = this.videos.get(id)!
    const grown = Math.floor(((at - this.#startedAt) / HOUR) * pace)
    return { views: views + grown, likes: likes + Math.floor(grown / 100), comments }
  }

  #reply(ids: readonly string[]): readonly [number, object] {
    const at = this.#now()
    const steady = performance.now()
    this.calls.push({ at, steady })
    if (this.fault) return ERRORS[this.fault]
    const videos = new Map<string, Counts | undefined>()
    for (const id of ids) {
      const video = this.videos.get(id)
      if (!video || video.isOmitted) videos.set(id, undefined)
      else {
        const { likes, ...counts } = this.truth(id, at)
        videos.set(id, { ...counts, ...(!video.isHidden && { likes }) })
      }
    }
    this.statements.push({ at, steady, videos })
    const items = [...videos].flatMap(([id, counts]) => (counts ? [itemOf(id, counts)] : []))
    return [200, { kind: 'youtube#videoListResponse', items }]
  }
}

const itemOf = (id: string, { views, likes, comments }: Counts) => ({
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
