import { embed } from '@influencer-stats/runtime/embed'
import { createControl, type StandInControl } from '@influencer-stats/youtube/client'
import { youtube } from '@influencer-stats/youtube/service'

/** A stand-in for YouTube for one test. */
export interface TestStandIn {
  readonly url: string
  readonly control: StandInControl
  stop(): Promise<unknown>
}

export async function startStandIn(): Promise<TestStandIn> {
  const running = await embed(youtube)
  return { url: running.url, control: createControl(running.url), stop: () => running.stop() }
}

/** The video with which the source projects measure, and two more with the same constant counts. */
export const SAMPLE_VIDEOS = ['-4lB5EKS5Uk', '-jlLkTtgWUk', '1FEFpk-uIYo']

export const SAMPLE_TOTALS = { impressions: 785_202, engagements: 46_848, score: 89_559, videos: 3, missing: [] }

/** A channel of the stand-in, and a playlist with its first 30 uploads. */
export const SAMPLE_CHANNEL = { id: 'UC0007000700070007000700', title: 'Channel 7', handle: '@channel7' }
export const SAMPLE_PLAYLIST = `PL${'0007'.repeat(8)}`
