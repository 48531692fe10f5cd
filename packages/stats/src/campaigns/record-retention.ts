import { yieldTurn } from '@influencer-stats/runtime/async/yield'
import type { RetentionTiers } from '../core/history/retention-tiers.ts'
import type { RecordKind } from '../core/record-kinds.ts'
import type { StatsState } from '../state/stats-state.ts'
import { prunePages } from './retention.ts'

type RecordState = Pick<StatsState, 'getRecords' | 'listRecords' | 'putRecords'>

/** A point of the history of a channel. */
interface ChannelPointKey {
  readonly key: string
  /** ms since 1970 */
  readonly at: number
}

/** Number of records per read. */
const PAGE_SIZE = 200
/** Greater than the first character of a time in a key. */
const AFTER_TIMES = '~'

/**
 * Deletes the channels and the followed playlists that were not refreshed for `tiers.hourly`: no video is theirs, or no
 * campaign follows them any more. Prunes the histories of the other channels as those of videos.
 */
export async function pruneRecords(state: RecordState, tiers: RetentionTiers, now: number): Promise<void> {
  for (const kind of ['channel', 'feed'] as const) await deleteExpired(state, kind, now - tiers.hourly)
  for await (const channel of readHistoryOwners(state)) {
    const [details] = await state.getRecords('channel', [channel])
    const pages = readChannelPoints(state, channel)
    const deletePoints = (points: readonly ChannelPointKey[]) => deleteRecords(state, 'channel-point', points)
    if (details) await prunePages(pages, { tiers, now, deletePoints })
    else for await (const page of pages) await deletePoints(page)
  }
}

const deleteRecords = (state: RecordState, kind: RecordKind, rows: readonly { readonly key: string }[]) =>
  state.putRecords(rows.map(({ key }) => ({ kind, key })))

async function deleteExpired(state: RecordState, kind: 'channel' | 'feed', oldest: number): Promise<void> {
  const readPage = (after: string) => state.listRecords(kind, { after, limit: PAGE_SIZE })
  for (let after = '', page; (page = await readPage(after)).length > 0; after = page.at(-1)!.key) {
    const expired = page.filter(({ value }) => value.asOf < oldest)
    if (expired.length > 0) await deleteRecords(state, kind, expired)
    await yieldTurn()
  }
}

/** Yields the channels that have points, without reading all points. */
async function* readHistoryOwners(state: RecordState): AsyncGenerator<string> {
  for (let after = ''; ; await yieldTurn()) {
    const [first] = await state.listRecords('channel-point', { after, limit: 1 })
    if (!first) return
    const channel = first.key.slice(0, first.key.lastIndexOf('/'))
    yield channel
    after = `${channel}/${AFTER_TIMES}`
  }
}

async function* readChannelPoints(state: RecordState, channel: string): AsyncGenerator<ChannelPointKey[]> {
  const prefix = `${channel}/`
  for (let after = prefix, page; ; after = page.at(-1)!.key) {
    page = await state.listRecords('channel-point', { prefix, after, limit: PAGE_SIZE })
    if (page.length > 0) yield page.map(({ key }) => ({ key, at: Number(key.slice(prefix.length)) }))
    if (page.length < PAGE_SIZE) return
  }
}
