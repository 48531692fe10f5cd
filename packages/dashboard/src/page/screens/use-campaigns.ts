import type { CollectionRow, ListOptions, Stats } from '@influencer-stats/stats/client'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { stats } from '../api.ts'
import type { HomeQuery } from '../core/home-query.ts'
import { mergeNewerSums, mergeValue, type LiveValue } from '../core/live-row.ts'
import { isFailing } from '../core/upstream-status.ts'
import { useLoaded } from '../hooks.ts'
import type { LiveUpdates } from '../live-stream.ts'
import { useRefresh } from '../use-refresh.ts'
import { getEntryState, saveState } from '../router.ts'
import { useAvailability, usePageState } from '../page-state.ts'
import { completed, toCampaignKey, usePendingRemovals } from '../pending-removals.ts'

const PAGE_SIZE = 100
/** Minimum time between two reads of the list that live values cause (ms). */
const MIN_RELOAD_INTERVAL_MS = 2_000

export interface CampaignsState {
  readonly rows: readonly CollectionRow[]
  /** True if `rows` belong to the query, or to the previous query while the list of this one loads. */
  readonly isRead: boolean
  /** True if `rows` has all campaigns that match the query: there is no next page. */
  readonly isWhole: boolean
  readonly fault: string | undefined
  /** Reads the next page. Undefined if there is none. */
  readonly readMore: (() => Promise<void>) | undefined
  reload(): void
}

/** Rows with the newest numbers. A row without new numbers remains the same object. */
function mergeUpdates(rows: readonly CollectionRow[], updates: LiveUpdates): readonly CollectionRow[] {
  if (!rows.some(({ id }) => updates.has(id))) return rows
  return rows.map((row) => mergeValue(row, updates.get(row.id)).row)
}

/** Rows of a reply, updated with newer live values. If the page already shows newer sums, those stay. */
function mergeNewest(
  read: readonly CollectionRow[],
  newest: LiveUpdates,
  shown: readonly CollectionRow[],
): readonly CollectionRow[] {
  const before = new Map(shown.map((row) => [row.id, row]))
  return mergeUpdates(read, newest).map((row) => mergeNewerSums(row, before.get(row.id)))
}

const mergeSums = (row: CollectionRow, stats: Stats | undefined): CollectionRow => (stats ? { ...row, stats } : row)

/** The campaigns that match a query, with their newest numbers. */
export function useCampaigns({ sort, q, tag }: HomeQuery): CampaignsState {
  const { live } = usePageState()
  const [rows, setRows] = useState<readonly CollectionRow[]>([])
  const [next, setNext] = useState<string | undefined>()
  // The query of the current rows. It is set together with them: otherwise the screen would briefly state that there are no
  // campaigns.
  const [readKey, setReadKey] = useState<string | undefined>()
  const key = JSON.stringify([sort, q, tag])
  const listOptions = {
    include: ['stats', 'change'] as const,
    sort,
    limit: PAGE_SIZE,
    ...(q && { q }),
    ...(tag && { tag }),
  }

  // The newest live value of each campaign, by its id: a reply may be older, even if the page requests it later.
  const newest = useRef(new Map<string, LiveValue>())
  const page = useLoaded(
    async () => ({ key, ...(await readPages(listOptions, getEntryState('shown', PAGE_SIZE))) }),
    [key],
  )
  useEffect(() => {
    if (!page.value) return
    const { collections } = page.value
    setRows((before) => mergeNewest(collections, newest.current, before))
    setNext(page.value.next)
    setReadKey(page.value.key)
  }, [page.value])
  useRefresh(page.reload)

  const { status } = useAvailability()
  const isUnavailable = isFailing(status?.upstream)
  // In an outage, a campaign with a new video has no sums in the list, so its sums are read from stats. In an outage stats
  // replies at once. At any other time the read would wait for YouTube.
  useEffect(() => {
    if (!isUnavailable || !page.value) return
    for (const { id, videos, stats: sums } of page.value.collections) {
      if (sums || videos.length === 0) continue
      stats.getStats(id).then(
        (known) =>
          setRows((before) => before.map((row) => (row.id === id && !row.stats ? mergeSums(row, known) : row))),
        // The row shows that there are no numbers.
        () => {},
      )
    }
  }, [page.value, isUnavailable])

  const isRead = readKey === key || (readKey !== undefined && page.isLoading && !page.fault)
  const isWhole = isRead && !next
  const shown = useRef({ rows, isAll: false })
  shown.current = { rows, isAll: isWhole && !q && !tag }
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let readAt = -Infinity
    function reloadSoon(): void {
      timer ??= setTimeout(
        () => {
          timer = undefined
          readAt = performance.now()
          page.reload()
        },
        Math.max(0, readAt + MIN_RELOAD_INTERVAL_MS - performance.now()),
      )
    }
    const end = live.listen({
      values(updates) {
        for (const [id, value] of updates) newest.current.set(id, value)
        const { rows: all, isAll } = shown.current
        const ids = new Set(all.map(({ id }) => id))
        // Another page created a campaign: an unfiltered list must contain it.
        const isNew = isAll && [...updates.keys()].some((id) => !ids.has(id))
        if (isNew || all.some((row) => mergeValue(row, updates.get(row.id)).isOutdated)) reloadSoon()
        setRows((before) => mergeUpdates(before, updates))
      },
    })
    return () => {
      clearTimeout(timer)
      end()
    }
  }, [live, page.reload])

  useEffect(() => completed.add((key) => setRows((before) => before.filter(({ id }) => toCampaignKey(id) !== key))), [])
  const pending = usePendingRemovals()
  const remaining = useMemo(
    () =>
      rows.filter(({ id }) => pending.get(toCampaignKey(id))?.fault !== undefined || !pending.has(toCampaignKey(id))),
    [rows, pending],
  )

  async function readMore(): Promise<void> {
    const found = await stats.list({ ...listOptions, after: next! })
    setRows((before) => [...before, ...mergeUpdates(found.collections, newest.current)])
    setNext(found.next)
    saveState({ shown: rows.length + found.collections.length })
  }
  return {
    rows: isRead ? remaining : [],
    isRead,
    isWhole,
    fault: page.fault,
    readMore: next ? readMore : undefined,
    reload: page.reload,
  }
}

/** Reads pages until there are at least `count` rows, or all. */
async function readPages(listOptions: ListOptions, count: number) {
  let { collections, next } = await stats.list(listOptions)
  while (next && collections.length < count) {
    const more = await stats.list({ ...listOptions, after: next })
    collections = [...collections, ...more.collections]
    next = more.next
  }
  return { collections, ...(next && { next }) }
}
