import { isDeepStrictEqual } from 'node:util'
import { toPacificDay } from '@influencer-stats/runtime/pacific-time'
import { toPatientTimeout } from '@influencer-stats/runtime/testing/patience'
import { expect, it } from 'vitest'
import { DAY_MS } from '../src/core/quota-budget.ts'
import { QuotaDay, toChannelId, toPlaylistId, type AgencySize } from './support/quota-day.ts'

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
const IDS_PER_CALL = 50

const AGENCY: AgencySize = { campaigns: 500, videos: 10_000, creators: 300, sources: 100, budget: 10_000 }
/** A tenth of everything: the intervals are the same. */
const SMALL_AGENCY: AgencySize = { campaigns: 50, videos: 1_000, creators: 30, sources: 10, budget: 1_000 }

/** Time in which a running service refreshes everything (ms): channels and playlists use a tenth of the budget. */
const toVideoShare = ({ videos, budget }: AgencySize) => (DAY_MS * videos) / IDS_PER_CALL / (0.9 * budget)
/**
 * Interval of a playlist (ms). It is longer than its share of the budget, because the first reads are not paced, and a day
 * may have an hour more.
 */
const toSourceShare = ({ sources, budget }: AgencySize) => (1.3 * DAY_MS * sources) / (0.1 * budget)

/** Expects that the service and the stand-in count the same units, at most the budget. Returns the former. */
async function expectSameUnits(agency: QuotaDay) {
  const read = async () => {
    const { state, budget } = await agency.get('/upstream')
    const { videos, channels, playlistItems, lookups } = budget.kinds
    const day = toPacificDay(Date.now())
    const sent = {
      videos: agency.countUnits(day, 'videos'),
      // A look-up of a handle is a call of this resource.
      channels: agency.countUnits(day, 'channels'),
      playlistItems: agency.countUnits(day, 'playlistItems'),
    }
    return { state, budget, sent, counted: { videos, channels: channels + lookups, playlistItems } }
  }
  let units = await read()
  // A call may begin between both counts.
  if (!isDeepStrictEqual(units.sent, units.counted)) {
    await agency.time.runUntil(Date.now() + 1_000)
    units = await read()
  }
  const { state, budget, sent, counted } = units
  expect(state).toBe(budget.left > 0 ? 'ok' : 'paused')
  expect(Object.values<number>(budget.kinds).reduce((sum, units) => sum + units)).toBe(budget.used)
  expect(counted).toEqual(sent)
  expect(budget.used).toBeLessThanOrEqual(agency.size.budget)
  expect(await agency.get('/metrics')).toMatch(/^stats_collections_stale 0$/m)
  return budget
}

it(
  'a day of an agency stays within the budget, and everything is refreshed within its share',
  async () => {
    const [start, end] = [Date.parse('2026-03-05T08:00:00Z'), Date.parse('2026-03-06T08:00:00Z')]
    const agency = new QuotaDay(start, AGENCY)
    await agency.start()
    const { time, control } = agency
    const uploadedAt = start + 5 * HOUR_MS
    const uploads = [
      { channel: toChannelId(0), videos: [{ id: 'new-upload1', at: uploadedAt }] },
      { channel: toChannelId(1), videos: [{ id: 'new-upload2', at: uploadedAt + HOUR_MS }] },
      { channel: toChannelId(301), videos: [{ id: 'new-upload3', at: uploadedAt }] },
      { playlist: toPlaylistId(4), videos: [{ id: 'new-upload3', at: uploadedAt }] },
    ]
    for (const upload of uploads) await time.wait(control.addUploads(upload))

    for (let at = start + HOUR_MS; at <= start + 12 * HOUR_MS; at += HOUR_MS) {
      await time.runUntil(at)
      await expectSameUnits(agency)
    }
    // The look-up of a handle takes a unit, too.
    const campaign = { videos: [], sources: [{ type: 'channel', id: '@channel400' }] }
    expect((await time.wait(agency.stats.put('/collections/entered', campaign))).status).toBe(201)
    const before = await expectSameUnits(agency)
    expect(before.kinds.lookups).toBe(1)

    await agency.stopStats()
    const stoppedAt = Date.now()
    await time.runUntil(stoppedAt + 10 * MINUTE_MS)
    await agency.startStats()
    const pause = Date.now() - stoppedAt
    await time.runUntil(Date.now() + MINUTE_MS)
    const after = await expectSameUnits(agency)
    expect(after.used).toBeGreaterThanOrEqual(before.used)
    expect(after).toEqual({
      ...before,
      used: after.used,
      left: before.limit - after.used,
      kinds: { ...after.kinds, lookups: 1 },
    })
    for (let at = start + 13 * HOUR_MS; at < end; at += HOUR_MS) {
      await time.runUntil(at)
      await expectSameUnits(agency)
    }
    await time.runUntil(end - 1_000)
    const { used, kinds } = await expectSameUnits(agency)
    // The budget is used, so that the numbers are as fresh as it permits.
    expect(used).toBeGreaterThan(0.98 * AGENCY.budget)
    expect(kinds.channels + kinds.playlistItems).toBeLessThanOrEqual(0.1 * AGENCY.budget)

    const share = toVideoShare(AGENCY)
    const firstRounds = start + 2.1 * share
    expect(agency.getLongestGap('videos', start, firstRounds)).toBeLessThan(2 * share)
    expect(agency.getLongestGap('videos', firstRounds, end)).toBeLessThan(1.05 * share + pause)
    const sourceShare = toSourceShare(AGENCY)
    expect(agency.getLongestGap('playlistItems', start, end)).toBeLessThan(sourceShare + pause)
    expect(agency.listReads('playlistItems')).toHaveLength(AGENCY.sources + 1)
    // The creators of all videos, and of the uploads.
    const counts = agency.listReads('channels').map(({ length }) => length)
    expect(counts.length).toBeGreaterThanOrEqual(AGENCY.creators)
    expect(new Set(counts)).toEqual(new Set([1]))

    for (const [i, id] of ['new-upload1', 'new-upload2', 'new-upload3'].entries()) {
      const [firstRead] = agency.getReads('videos', id)
      expect(firstRead! - (uploadedAt + (i === 1 ? HOUR_MS : 0))).toBeLessThan(sourceShare + pause + MINUTE_MS)
      const collection = await agency.get(`/collections/c${[0, 1, 4][i]}`)
      expect(collection.followed).toHaveProperty(id)
    }

    await time.runUntil(end + HOUR_MS)
    const next = await expectSameUnits(agency)
    expect(next.used).toBeLessThan(0.06 * AGENCY.budget)
  },
  toPatientTimeout(600_000),
)

it.each([
  ['the clocks go forward', '2026-03-08T08:00:00Z', '2026-03-09T07:00:00Z'],
  ['the clocks go back', '2026-11-01T07:00:00Z', '2026-11-02T08:00:00Z'],
])(
  'a day on which %s stays within the budget, too',
  async (_, from, to) => {
    const [start, end] = [Date.parse(from), Date.parse(to)]
    const agency = new QuotaDay(start, SMALL_AGENCY)
    await agency.start()
    for (let at = start + HOUR_MS; at < end; at += HOUR_MS) {
      await agency.time.runUntil(at)
      await expectSameUnits(agency)
    }
    await agency.time.runUntil(end - 1_000)
    const { used } = await expectSameUnits(agency)
    expect(used).toBeGreaterThan(0.94 * SMALL_AGENCY.budget)
    const share = toVideoShare(SMALL_AGENCY)
    expect(agency.getLongestGap('videos', start, end)).toBeLessThan(2 * share)
    // On the longer day the same units last for an hour more.
    expect(agency.getLongestGap('videos', start + 3 * share, end)).toBeLessThan(1.15 * share)
    expect(agency.getLongestGap('playlistItems', start, end)).toBeLessThan(toSourceShare(SMALL_AGENCY))
    await agency.time.runUntil(end + HOUR_MS)
    expect((await expectSameUnits(agency)).used).toBeLessThan(0.06 * SMALL_AGENCY.budget)
  },
  toPatientTimeout(300_000),
)
