import type { CollectionRow } from '@influencer-stats/stats/client'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { createCampaignSource, type CampaignSource } from '../api.ts'
import { toBasis, mergeNewerSums, mergeValue, type LiveValue } from '../core/live-row.ts'
import { getTitle } from '../core/names.ts'
import { undone } from '../done-changes.ts'
import { parsePeriod, updateSearch } from '../core/time-ranges.ts'
import { useLoaded, useTitle } from '../hooks.ts'
import { html } from '../html.ts'
import { onDemand } from '../on-demand.ts'
import { Dialog, ErrorMessage } from '../parts/dialog.ts'
import { Clock } from '../parts/cards.ts'
import { GrowthChart } from '../parts/growth-chart.ts'
import { useRefresh } from '../use-refresh.ts'
import { hasDates, PeriodTabs } from './results/period-tabs.ts'
import { go, type PageLocation } from '../router.ts'
import { formats, usePageState } from '../page-state.ts'
import { rich, text } from '../texts/texts.ts'
import { Cards } from './results/campaign-cards.ts'
import { discardEdit, hasEditDraft } from './campaign/edit-drafts.ts'
import { CampaignResults } from './results/campaign-results.ts'
import { CampaignContent } from './creators/campaign-content.ts'

// The page of a share link has none of these.
const CampaignForm = onDemand(async () => (await import('./campaign/campaign-form.ts')).CampaignForm)
const CampaignActions = onDemand(async () => (await import('./campaign/campaign-actions.ts')).CampaignActions)
const CampaignLinks = onDemand(async () => (await import('./campaign/campaign-links.ts')).CampaignLinks)

interface CampaignProps {
  /** Id of a campaign of the user. Absent on the page of a share link: then `source` is set, and the page is read-only. */
  readonly id?: string
  readonly source?: CampaignSource
  readonly pageLocation: PageLocation
}

export function Campaign({ id, source: sharedSource, pageLocation }: CampaignProps) {
  const { live, session } = usePageState()
  const source = useMemo(() => sharedSource ?? createCampaignSource(id!), [id])
  const campaign = useLoaded(() => source.get(), [source])
  const [liveValue, setLiveValue] = useState<LiveValue | undefined>()
  const [open, setOpen] = useState<'edit' | 'share' | undefined>(() =>
    id !== undefined && hasEditDraft(id) ? 'edit' : undefined,
  )
  // A dialog stays open, with its input, if the campaign is deleted elsewhere.
  const lastRow = useRef<CollectionRow>(undefined)
  if (campaign.value) lastRow.current = campaign.value
  const read = campaign.value ?? (open === undefined ? undefined : lastRow.current)
  // While stats cannot read the numbers of a new video, the campaign has no sums. The sums of its other videos are read.
  const withoutSums = read && !read.stats && read.videos.length > 0 ? read : undefined
  const readSums = useLoaded(
    async () => withoutSums && { ...withoutSums, stats: await source.getSums() },
    [source, withoutSums],
  )
  const withSums = readSums.value ?? read
  const { row: current, isOutdated } = withSums
    ? mergeValue(withSums, liveValue)
    : { row: undefined, isOutdated: false }
  const shown = useRef<CollectionRow>(undefined)
  const row = current && mergeNewerSums(current, shown.current)
  shown.current = row
  useTitle(row ? getTitle(row) : text('campaign.page'))

  useEffect(
    () =>
      live.listen({
        values: (updates) => setLiveValue((before) => updates.get(row?.id ?? id ?? '') ?? before),
        // When a share link ends, its stream ends too: the read shows why.
        state: (state) => void (sharedSource && state === 'lost' && campaign.reload()),
      }),
    [live, row?.id, campaign.reload],
  )
  useRefresh(campaign.reload)
  useEffect(() => {
    if (isOutdated) campaign.reload()
  }, [isOutdated, liveValue])

  useEffect(() => undone.add(campaign.reload), [campaign.reload])

  const isOwn = id !== undefined
  const canChange = isOwn && session.role === 'editor'
  useEffect(() => {
    if (canChange) for (const dialog of [CampaignForm, CampaignActions, CampaignLinks]) dialog.load()
  }, [canChange])

  if (campaign.fault && !row)
    return html`<div class="head"><h1>${text(isOwn ? 'campaign.page' : 'campaign.notShown')}</h1></div>
      <${ErrorMessage} text=${campaign.fault} />`
  if (!row)
    return campaign.isLoading
      ? html`<p class="quiet" role="status">${text('frame.loading')}</p>`
      : html`<${DeletedCampaign} />`

  const query = new URLSearchParams(pageLocation.search)
  const period = parsePeriod(query, hasDates(row))
  const show = (change: Record<string, string>) =>
    go(pageLocation.path + updateSearch(pageLocation.search, change), { replace: true })
  const sums = row.stats
  function close() {
    if (open === 'edit') discardEdit(row!.id)
    setOpen(undefined)
  }
  const closeAndReload = () => (close(), campaign.reload())

  return html`<div class="head">
      <div>
        ${isOwn && html`<a class="back" href="/">${text('campaign.back')}</a>`}
        <h1><bdi>${getTitle(row)}</bdi></h1>
        <p class="quiet facts">
          ${(row.tags ?? []).map((tag) => html`<a class="tag" key=${tag} href=${`/?tag=${encodeURIComponent(tag)}`}><bdi>${tag}</bdi></a>`)}
          ${(row.from || row.to) && html`<span>${row.from ? formats.date(row.from) : '…'} – ${row.to ? formats.date(row.to) : '…'}</span>`}
          ${isOwn && row.archived && html`<span>${text('campaign.archived')}</span>`}
          ${sums && html`<span class=${sums.stale ? 'stale' : ''}>${rich(sums.stale ? 'campaign.oldNumbers' : 'campaign.asOf', { time: html`<${Clock} at=${sums.asOf} />` })}</span>`}
        </p>
      </div>
      <div class="tools">
        <${PeriodTabs} row=${row} period=${period} show=${show} />
        ${isOwn && html`<a class="button" download href=${`/api/stats/collections/${encodeURIComponent(id!)}/export?format=csv`}>CSV</a>`}
        ${canChange && html`<button onClick=${() => setOpen('share')}>${text('campaign.share')}</button>`}
        ${canChange && html`<button onClick=${() => setOpen('edit')}>${text('campaign.edit')}</button>`}
      </div>
    </div>
    <${ErrorMessage} text=${campaign.fault} />
    ${
      period.kind === 'window'
        ? html`<${Cards} row=${row} range=${period.range} />
            <${GrowthChart}
              source=${source}
              id=${row.id}
              range=${period.range}
              query=${query}
              now=${sums}
              basis=${sums && toBasis(sums)}
              show=${show}
            />`
        : html`<${CampaignResults}
            row=${row}
            source=${source}
            period=${period}
            query=${query}
            isOwn=${isOwn}
            show=${show}
          />`
    }
    <${CampaignContent}
      row=${row}
      source=${source}
      asOf=${sums?.asOf}
      isOwn=${isOwn}
      canChange=${canChange}
      query=${query}
      reload=${campaign.reload}
      show=${show}
    />
    ${
      open === 'edit' &&
      html`<${Dialog} title=${text('campaign.editTitle')} onClose=${close}>
        <${CampaignForm} row=${row} onDone=${closeAndReload} />
        <${CampaignActions} row=${row} onChanged=${() => (setOpen(undefined), campaign.reload())} />
      </${Dialog}>`
    }
    ${open === 'share' && html`<${Dialog} title=${text('campaign.shareTitle')} onClose=${close}><${CampaignLinks} id=${row.id} /></${Dialog}>`}`
}

const DeletedCampaign = () =>
  html`<section class="empty">
    <h1>${text('campaign.none')}</h1>
    <p class="quiet">${text('campaign.noneNote')}</p>
    <p>
      <a class="button" href="/">${text('campaign.all')}</a> <a class="button" href="/trash">${text('trash.title')}</a>
    </p>
  </section>`
