import type { CollectionRow, ListOptions, Stats } from '@influencer-stats/stats/client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { stats } from '../../api.ts'
import type { HomeQuery } from '../../core/home-query.ts'
import { mergeNewerSums, mergeValue, type LiveValue } from '../../core/live-row.ts'
import { isFailing } from '../../core/upstream-status.ts'
import { useLoaded } from '../../hooks.ts'
import type { LiveUpdates } from '../../live-stream.ts'
import { useRefresh } from '../../use-refresh.ts'
import { useAvailability, usePageState } from '../../page-state.ts'

const PAGE_SIZE = 100
/** Lists up to this length are read and shown as a whole, so that the browser finds text in all of it. */
export const MAX_WHOLE = 200
/** Delay from a change of the visible rows to the read of the missing ones (ms). */
const READ_DELAY_MS = 60
/** Minimum time between two reads of the list that live values cause (ms). */
const MIN_RELOAD_INTERVAL_MS = 2_000

/** A row, or undefined while it is not read. */
export type CampaignSlot = CollectionRow | undefined

const NO_ROWS: readonly CampaignSlot[] = []

export interface CampaignsState {
  /** A slot for each campaign that matches the query, in its order. */
  readonly rows: readonly CampaignSlot[]
  /** True if `rows` belong to the query, or to the previous query while the list of this one loads. */
  readonly isRead: boolean
  /** True if every row is read. */
  readonly isWhole: boolean
  readonly fault: string | undefined
  /** Reads the rows from `first` to `last`, soon. */
  need(first: number, last: number): void
  reload(): void
}

interface SlotRange {
  readonly first: number
  readonly last: number
}

const FIRST_PAGE: SlotRange = { first: 0, last: PAGE_SIZE - 1 }

/** Rows with the newest numbers. A row without new numbers remains the same object. */
function mergeUpdates<Row extends CampaignSlot>(rows: readonly Row[], updates: LiveUpdates): readonly Row[] {
  if (!rows.some((row) => row && updates.has(row.id))) return rows
  return rows.map((row) => row && (mergeValue(row, updates.get(row.id)).row as Row))
}

/** Rows of a reply, updated with newer live values. If the page already shows newer sums, those stay. */
function mergeNewest(
  read: readonly CampaignSlot[],
  newest: LiveUpdates,
  shown: readonly CampaignSlot[],
): readonly CampaignSlot[] {
  const before = new Map(shown.filter(isPresent).map((row) => [row.id, row]))
  return mergeUpdates(read, newest).map((row) => row && mergeNewerSums(row, before.get(row.id)))
}

const isPresent = (row: CampaignSlot): row is CollectionRow => row !== undefined

const mergeSums = (row: CollectionRow, stats: Stats | undefined): CollectionRow => (stats ? { ...row, stats } : row)

/** The campaigns that match a query, with their newest numbers. */
export function useCampaigns({ sort, q, tag, isArchive }: HomeQuery): CampaignsState {
  const { live } = usePageState()
  const [rows, setRows] = useState<readonly CampaignSlot[]>([])
  // The query of the current rows. It is set together with them: otherwise the screen would briefly state that there are no
  // campaigns.
  const [readKey, setReadKey] = useState<string | undefined>()
  const key = JSON.stringify([sort, q, tag, isArchive])
  const listOptions: ListOptions = {
    include: ['stats', 'change'] as const,
    sort,
    archived: isArchive ? 'true' : 'false',
    ...(q && { q }),
    ...(tag && { tag }),
  }
  const range = useRef({ key, needed: FIRST_PAGE })
  if (range.current.key !== key) range.current = { key, needed: FIRST_PAGE }

  // The newest live value of each campaign, by its id: a reply may be older, even if the page requests it later.
  const newest = useRef(new Map<string, LiveValue>())
  const page = useLoaded(async () => ({ key, slots: await readSlots(listOptions, range.current.needed) }), [key])
  useEffect(() => {
    if (!page.value) return
    const { slots } = page.value
    setRows((before) => mergeNewest(slots, newest.current, before))
    setReadKey(page.value.key)
  }, [page.value])
  useRefresh(page.reload)
  const need = useMissingRows(listOptions, { key, range, rows, newest: newest.current, setRows, reload: page.reload })

  const { status } = useAvailability()
  const isUnavailable = isFailing(status?.upstream)
  // In an outage, a campaign with a new video has no sums in the list, so its sums are read from stats. In an outage stats
  // replies at once. At any other time the read would wait for YouTube.
  useEffect(() => {
    if (!isUnavailable || !page.value) return
    for (const { id, videos, stats: sums } of page.value.slots.filter(isPresent)) {
      if (sums || videos.length === 0) continue
      stats.getStats(id).then(
        (known) =>
          setRows((before) => before.map((row) => (row?.id === id && !row.stats ? mergeSums(row, known) : row))),
        // The row shows that there are no numbers.
        () => {},
      )
    }
  }, [page.value, isUnavailable])

  const isRead = readKey === key || (readKey !== undefined && page.isLoading && !page.fault)
  const isWhole = isRead && rows.every(isPresent)
  const sought = useRef(new Set<string>())
  const shown = useRef({ rows, isAll: false })
  shown.current = { rows, isAll: isWhole && !q && !tag && !isArchive }
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
        const ids = new Set(all.map((row) => row?.id))
        // Another page created a campaign: an unfiltered list must contain it. The list never contains the archive, so an
        // unknown campaign causes one read.
        const unknown = isAll ? [...updates.values()].filter(({ id }) => !ids.has(id)).map(toOrigin) : []
        const isNew = unknown.some((origin) => !sought.current.has(origin))
        for (const origin of unknown) sought.current.add(origin)
        if (isNew || all.some((row) => row && mergeValue(row, updates.get(row.id)).isOutdated)) reloadSoon()
        setRows((before) => mergeUpdates(before, updates))
      },
    })
    return () => {
      clearTimeout(timer)
      end()
    }
  }, [live, page.reload])

  return { rows: isRead ? rows : NO_ROWS, isRead, isWhole, fault: page.fault, need, reload: page.reload }
}

/** Identifies a campaign from its creation to its deletion. */
const toOrigin = ({ id, created = '' }: LiveValue) => `${id} ${created}`

/** Reads the rows of a range in whole pages, and all rows of a short list. */
async function readSlots(listOptions: ListOptions, { first, last }: SlotRange): Promise<readonly CampaignSlot[]> {
  const numbers = listPages(first, last)
  const pages = await Promise.all(numbers.map((number) => readPage(listOptions, number)))
  const { total = 0 } = pages.at(-1)!
  const slots: CampaignSlot[] = Array.from({ length: total })
  for (const [i, { collections }] of pages.entries())
    slots.splice(numbers[i]! * PAGE_SIZE, collections.length, ...collections)
  // A list that changed between two pages may lack rows: they are read when they are visible.
  const isRead = (first === 0 && last >= MAX_WHOLE - 1) || slots.every(isPresent)
  if (total > MAX_WHOLE || isRead) return slots.slice(0, total)
  return (await readSlots(listOptions, { first: 0, last: MAX_WHOLE - 1 })).slice(0, total)
}

const listPages = (first: number, last: number): number[] => {
  const begin = Math.floor(first / PAGE_SIZE)
  return Array.from({ length: Math.floor(last / PAGE_SIZE) - begin + 1 }, (_, i) => begin + i)
}

const readPage = (listOptions: ListOptions, number: number) =>
  stats.list({ ...listOptions, limit: PAGE_SIZE, offset: number * PAGE_SIZE })

interface MissingRowsOptions {
  readonly key: string
  readonly range: { current: { readonly key: string; needed: SlotRange } }
  readonly rows: readonly CampaignSlot[]
  readonly newest: LiveUpdates
  setRows(change: (before: readonly CampaignSlot[]) => readonly CampaignSlot[]): void
  reload(): void
}

/** Returns the function that reads the missing rows of the visible range. */
function useMissingRows(listOptions: ListOptions, options: MissingRowsOptions): CampaignsState['need'] {
  const current = useRef({ listOptions, ...options })
  current.current = { listOptions, ...options }
  const reading = useRef(new Set<string>())
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])

  async function readMissing(): Promise<void> {
    timer.current = undefined
    const { key, range, rows, listOptions: query, newest, setRows, reload } = current.current
    const { first, last } = range.current.needed
    const missing = listPages(first, Math.min(last, rows.length - 1)).filter((number) =>
      rows.slice(Math.max(first, number * PAGE_SIZE), Math.min(last + 1, (number + 1) * PAGE_SIZE)).includes(undefined),
    )
    for (const number of missing) {
      const name = `${key} ${number}`
      if (reading.current.has(name)) continue
      reading.current.add(name)
      readPage(query, number)
        .then(({ collections, total }) => {
          if (current.current.key !== key) return
          // The list has changed: all visible rows are read again.
          if (current.current.rows.length !== total) reload()
          else
            setRows((before) =>
              before.toSpliced(number * PAGE_SIZE, collections.length, ...mergeUpdates(collections, newest)),
            )
        }, reload)
        .finally(() => reading.current.delete(name))
    }
  }

  return (first, last) => {
    current.current.range.current.needed = { first, last }
    timer.current ??= setTimeout(() => void readMissing(), READ_DELAY_MS)
  }
}
