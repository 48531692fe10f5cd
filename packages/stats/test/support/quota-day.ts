import { toPacificDay } from '@influencer-stats/runtime/pacific-time'
import { embed } from '@influencer-stats/runtime/embed'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { createControl, type StandInControl } from '@influencer-stats/youtube/client'
import { youtube } from '@influencer-stats/youtube/service'
import { onTestFinished } from 'vitest'
import { SimulatedTime } from './simulated-time.ts'
import { startOnStandIn, type TestStats } from './stats.ts'

/** Numbers of campaigns and of what they contain, and the units of a day. */
export interface AgencySize {
  readonly campaigns: number
  readonly videos: number
  readonly creators: number
  readonly sources: number
  readonly budget: number
}

/** Resource of a call to the stand-in. */
type Resource = 'videos' | 'channels' | 'playlistItems' | 'playlists'

const toDigits = (number: number) => String(number).padStart(4, '0')
export const toChannelId = (channel: number): string => `UC${toDigits(channel).repeat(6).slice(0, 22)}`
export const toPlaylistId = (channel: number): string => `PL${toDigits(channel).repeat(8)}`
/** Returns the id of an upload of a channel of the stand-in. */
const toUploadId = (channel: number, index: number): string =>
  `UC${toDigits(channel)}${index.toString(36).padStart(5, '0')}`

/** True if the campaign of this number follows a playlist; the others follow a channel. */
const followsPlaylist = (campaign: number) => campaign % 5 === 4

/**
 * An agency: the service with its campaigns, and the stand-in, which refuses calls beyond the quota. Both run in this
 * process, on a simulated clock. Every call is recorded.
 */
export class QuotaDay {
  readonly time: SimulatedTime
  readonly size: AgencySize
  control!: StandInControl
  #stats: TestStats | undefined
  /** Number of calls by Pacific day and resource. */
  readonly #units = new Map<string, number>()
  /** Times of the reads of each video, of each channel and of the first page of each playlist (ms since 1970). */
  readonly #reads = new Map<Resource, Map<string, number[]>>()
  readonly #data = createTemporaryFolder()
  #youtubeUri!: string

  /** @param start ms since 1970 */
  constructor(start: number, size: AgencySize) {
    this.time = new SimulatedTime(start)
    this.size = size
    this.time.onRequest = (url, at) => this.#record(url, at)
  }

  async start(): Promise<void> {
    const standIn = await this.time.wait(embed(youtube, { quota: this.size.budget }))
    onTestFinished(async () => void (await this.time.wait(standIn.stop())))
    onTestFinished(() => this.stopStats())
    this.#youtubeUri = standIn.url
    this.control = createControl(standIn.url)
    await this.startStats()
    await this.#createCampaigns()
  }

  /** The running service. */
  get stats(): TestStats {
    return this.#stats!
  }

  /** Starts the service, with the data of an earlier one. */
  async startStats(): Promise<void> {
    const { budget } = this.size
    // The service would regard a step of the simulated clock as overload.
    const settings = { data: this.#data, youtubeUri: this.#youtubeUri, dailyBudget: budget, maxQueueDelay: 0 }
    this.#stats = await this.time.wait(startOnStandIn(settings))
  }

  async stopStats(): Promise<void> {
    if (this.#stats) await this.time.wait(this.#stats.stop())
    this.#stats = undefined
  }

  /** Creates all campaigns. As many as there are sources follow one each. */
  async #createCampaigns(): Promise<void> {
    const { campaigns, videos, creators, sources } = this.size
    const count = videos / campaigns
    const toSource = (i: number) => ({
      ...(followsPlaylist(i) ? { type: 'playlist', id: toPlaylistId(i) } : { type: 'channel', id: toChannelId(i) }),
      title: `Source ${i}`,
    })
    const puts = Array.from({ length: campaigns }, (_, i) => {
      const numbers = Array.from({ length: count }, (_item, at) => i * count + at)
      return this.stats.put(`/collections/c${i}`, {
        videos: numbers.map((number) => toUploadId(number % creators, Math.floor(number / creators))),
        ...(i < sources && { sources: [toSource(i)] }),
      })
    })
    for (const { status } of await this.time.wait(Promise.all(puts))) if (status !== 201) throw new Error(`${status}`)
  }

  async get(path: string): Promise<any> {
    return (await this.time.wait(this.stats.get(path))).body
  }

  /** Returns the number of calls of a Pacific day. */
  countUnits = (day: string, resource: Resource): number => this.#units.get(`${day} ${resource}`) ?? 0

  /** Returns the times of the reads of an id (ms since 1970). */
  getReads = (resource: Resource, id: string): readonly number[] => this.#reads.get(resource)?.get(id) ?? []

  /** Returns the times of the reads of all ids. */
  listReads = (resource: Resource): readonly (readonly number[])[] => [...(this.#reads.get(resource)?.values() ?? [])]

  /** Returns the longest time without a read of an id (ms) in a range that begins after the first read of the id. */
  getLongestGap(resource: Resource, from: number, to: number): number {
    const gaps = this.listReads(resource).flatMap((times) => {
      const all = [...times.filter((at) => at < to), to]
      return all.slice(1).flatMap((at, i) => (at > from ? at - Math.max(from, all[i]!) : []))
    })
    return gaps.reduce((longest, gap) => Math.max(longest, gap), 0)
  }

  #record(url: URL, at: number): void {
    const resource = url.pathname.split('/').at(-1) as Resource
    const day = toPacificDay(at)
    this.#units.set(`${day} ${resource}`, this.countUnits(day, resource) + 1)
    const reads = this.#reads.get(resource) ?? new Map<string, number[]>()
    this.#reads.set(resource, reads)
    if (url.searchParams.has('pageToken')) return
    const ids = url.searchParams.get('id') ?? url.searchParams.get('playlistId') ?? ''
    for (const id of ids.split(',')) {
      const times = reads.get(id)
      if (times) times.push(at)
      else reads.set(id, [at])
    }
  }
}
