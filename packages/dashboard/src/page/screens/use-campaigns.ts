import type { CollectionRow } from '@influencer-stats/stats/client'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { stats } from '../api.ts'
import type { HomeQuery } from '../core/home-query.ts'
import { useLoaded } from '../hooks.ts'
import type { LiveValue, Updates } from '../live.ts'
import { useShared } from '../session.ts'
import { campaignKey, onRemoved, usePendingRemovals } from '../undo.ts'

const PAGE = 100
/** The list is not read again for new campaigns so soon (ms). */
const READ_AGAIN = 2_000

export interface Campaigns {
  readonly rows: readonly CollectionRow[]
  /** Whether it has been read at all. */
  readonly isRead: boolean
  /** Whether there are no more of them. */
  readonly isWhole: boolean
  readonly fault: string | undefined
  /** Reads what comes next, where there is more. */
  readonly more: (() => Promise<void>) | undefined
}

/** With the newest numbers; rows that have none stay the same object. */
function withUpdates(rows: readonly CollectionRow[], updates: Updates): readonly CollectionRow[] {
  if (!rows.some(({ id }) => updates.has(id))) return rows
  return rows.map((row) => {
    const told = updates.get(row.id)
    if (!told || (row.stats && told.asOf < row.stats.asOf)) return row
    const { id: _id, ...sums } = told
    const grown = told.impressions - (row.stats?.impressions ?? told.impressions)
    const day = row.change?.['24h']
    const change = day && { ...row.change!, '24h': { ...day, impressions: day.impressions + grown } }
    return { ...row, stats: sums, ...(change && { change }) }
  })
}

/** The campaigns that a query asks for, with their newest numbers. */
export function useCampaigns({ sort, q, tag }: HomeQuery): Campaigns {
  const { live } = useShared()
  const [rows, setRows] = useState<readonly CollectionRow[]>([])
  const [next, setNext] = useState<string | undefined>()
  // Not before the rows are there: without any there is another page.
  const [isRead, setRead] = useState(false)
  const asked = { include: ['stats', 'change'] as const, sort, limit: PAGE, ...(q && { q }), ...(tag && { tag }) }

  // What comes while the list is read is not lost: it may be newer.
  const early = useRef(new Map<string, LiveValue>())
  const page = useLoaded(() => {
    early.current = new Map()
    return stats.list(asked)
  }, [sort, q, tag])
  useEffect(() => {
    if (!page.value) return
    setRows(withUpdates(page.value.collections, early.current))
    setNext(page.value.next)
    setRead(true)
  }, [page.value])

  const isWhole = isRead && !next
  const shown = useRef({ rows, isAll: false, readAt: 0 })
  shown.current = { ...shown.current, rows, isAll: isWhole && !q && !tag }
  useEffect(() => {
    function takeNew(updates: Updates): void {
      const { rows: all, isAll, readAt } = shown.current
      if (!isAll || Date.now() < readAt + READ_AGAIN) return
      const ids = new Set(all.map(({ id }) => id))
      if ([...updates.keys()].every((id) => ids.has(id))) return
      shown.current = { ...shown.current, readAt: Date.now() }
      page.reload()
    }
    return live.listen({
      values(updates) {
        for (const [id, value] of updates) early.current.set(id, value)
        setRows((before) => withUpdates(before, updates))
        // Somebody has made a campaign: where all are shown it belongs to them.
        takeNew(updates)
      },
      gap: page.reload,
    })
  }, [live, page.reload])

  useEffect(() => onRemoved((key) => setRows((before) => before.filter(({ id }) => campaignKey(id) !== key))), [])
  const pending = usePendingRemovals()
  const remaining = useMemo(
    () => rows.filter(({ id }) => pending.get(campaignKey(id))?.fault !== undefined || !pending.has(campaignKey(id))),
    [rows, pending],
  )

  async function more(): Promise<void> {
    const found = await stats.list({ ...asked, after: next! })
    setRows((before) => [...before, ...found.collections])
    setNext(found.next)
  }
  return { rows: remaining, isRead, isWhole, fault: page.fault, more: next ? more : undefined }
}
