import { embed } from '@influencer-stats/runtime/embed'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { youtube } from '@influencer-stats/youtube/service'
import { afterAll, expect, it } from 'vitest'
import { killUnderWriters } from '../src/kills.ts'
import { chancesOf, isLong } from '../src/plan.ts'
import { kvSubject } from '../src/subjects/kv.ts'
import { pricesSubject } from '../src/subjects/prices.ts'
import { sseSubject } from '../src/subjects/sse.ts'
import { statsSubject } from '../src/subjects/stats.ts'
import type { Subject } from '../src/subjects/subject.ts'

// `pnpm test:chaos --long` kills them more often.
const KILLS = isLong ? 200 : 5

const standIn = await embed(youtube)
afterAll(() => standIn.stop())

const cases: { name: string; subject: Subject; writes: number; durable: number }[] = [
  { name: 'kv', subject: kvSubject({ writers: 32 }), writes: 1_500, durable: 50 },
  { name: 'stats', subject: statsSubject(standIn.url), writes: 300, durable: 100 },
  { name: 'prices', subject: pricesSubject(), writes: 150, durable: 100 },
  { name: 'sse, with its history on disk', subject: sseSubject(), writes: 600, durable: 0 },
]

it.concurrent.each(cases)(
  `$name: nothing that was acknowledged is lost in ${KILLS} kills under writers`,
  async ({ name, subject, ...rest }) => {
    const options = { ...rest, random: chancesOf(`kills ${name}`), kills: KILLS }
    expect(await killUnderWriters(subject, temporaryFolder(), options)).toEqual([])
  },
  60_000 + KILLS * 60_000,
)
