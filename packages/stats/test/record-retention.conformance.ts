import { expect, it } from 'vitest'
import { pruneRecords } from '../src/campaigns/record-retention.ts'
import { DAY_MS } from '../src/core/quota-budget.ts'
import type { RecordKind } from '../src/core/record-kinds.ts'
import { toChannelPointKey } from '../src/refresh/side/channel-reader.ts'
import type { StatsState } from '../src/state/stats-state.ts'

const NOW_MS = 1_000 * DAY_MS + 7_000_000
const HOUR_MS = 3_600_000
const TIERS = { hourly: 30 * DAY_MS, daily: 90 * DAY_MS }

/** Tests the retention of records on a state. */
export function testRecordRetention(getState: () => StatsState): void {
  it('deletes channels and playlists that were not refreshed, and thins the histories of the other channels', async () => {
    const state = getState()
    const listKeys = async (kind: RecordKind) => (await state.listRecords(kind, { limit: 999 })).map(({ key }) => key)
    const before = (age: number) => NOW_MS - age
    const points: Record<string, number[]> = {
      // One is too old. Of the two points of day 40 the last one remains.
      UCa: [91 * DAY_MS, 41 * DAY_MS, 40 * DAY_MS + HOUR_MS, 40 * DAY_MS, 2 * DAY_MS + HOUR_MS, 2 * DAY_MS],
      'UCa-': [DAY_MS],
      UCold: [40 * DAY_MS, 31 * DAY_MS],
      UCwithout: Array.from({ length: 450 }, (_, i) => i * HOUR_MS),
    }
    const channels = { UCa: 30 * DAY_MS, 'UCa-': 0, UCold: 30 * DAY_MS + 1 }
    const feeds = { UUa: 0, UUold: 31 * DAY_MS }
    const rows = [
      ...Object.entries(channels).map(([id, age]) => ({ kind: 'channel', key: id, value: { id, asOf: before(age) } })),
      ...Object.entries(feeds).map(([key, age]) => ({
        kind: 'feed',
        key,
        value: { asOf: before(age), rules: '', newest: [] },
      })),
      ...Object.entries(points).flatMap(([channel, ages]) =>
        ages.map((age) => ({
          kind: 'channel-point',
          key: toChannelPointKey(channel, before(age)),
          value: { views: 1 },
        })),
      ),
    ] as const
    await state.putRecords(rows.map((row) => ({ ...row, kind: row.kind as RecordKind })))
    for (let pass = 0; pass < 2; pass++) {
      await pruneRecords(state, TIERS, NOW_MS)
      expect(await listKeys('channel')).toEqual(['UCa', 'UCa-'])
      expect(await listKeys('feed')).toEqual(['UUa'])
      const remaining = [41 * DAY_MS, 40 * DAY_MS, 2 * DAY_MS + HOUR_MS, 2 * DAY_MS].map((age) =>
        toChannelPointKey('UCa', before(age)),
      )
      // The order of two ids is that of their characters.
      expect(await listKeys('channel-point')).toEqual([toChannelPointKey('UCa-', before(DAY_MS)), ...remaining])
    }
    // Without the permission to store statistics for longer.
    await pruneRecords(state, { hourly: 30 * DAY_MS, daily: 30 * DAY_MS }, NOW_MS)
    expect(await listKeys('channel-point')).toHaveLength(3)
  })
}
