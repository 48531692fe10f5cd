import type { CreatorCampaign, CreatorWithVideos } from '@influencer-stats/stats/client'
import { useState } from 'preact/hooks'
import { stats } from '../../api.ts'
import { CHANNEL_ID, getTitle } from '../../core/names.ts'
import { useLoaded, useTitle } from '../../hooks.ts'
import { html } from '../../html.ts'
import { formats } from '../../page-state.ts'
import { Card, Clock } from '../../parts/cards.ts'
import { TimeChart } from '../../parts/chart.ts'
import { ErrorMessage } from '../../parts/dialog.ts'
import { Tabs } from '../../parts/tabs.ts'
import { Thumbnail } from '../../parts/videos/thumbnail.ts'
import { VideoLabels } from '../../parts/videos/video-labels.ts'
import { rich, text } from '../../texts/texts.ts'
import { useRefresh } from '../../use-refresh.ts'
import { ChannelPicture } from './channel-picture.ts'
import { formatMoney, formatRate, formatSubscribers, formatSum, getCreatorName } from './creator-name.ts'

/** Number of videos in the table: more are in the API. */
const MAX_VIDEOS = 100

/** One creator: its numbers, its campaigns, its videos, and its channel over time. */
export function CreatorScreen({ id }: { id: string }) {
  const creator = useLoaded(() => stats.getCreator(id), [id])
  useRefresh(creator.reload)
  const { value } = creator
  useTitle(value ? getCreatorName(value) : text('creators.creator'))
  const back = html`<a class="back" href="/creators">${text('creators.back')}</a>`
  if (creator.fault && !value)
    return html`<div class="head">
        <div>
          ${back}
          <h1>${text('creators.creator')}</h1>
        </div>
      </div>
      <${ErrorMessage} text=${creator.fault} />`
  if (!value)
    return creator.isLoading
      ? html`<p class="quiet" role="status">${text('frame.loading')}</p>`
      : html`<section class="empty">
          <h1>${text('creators.none')}</h1>
          <p class="quiet">${text('creators.noneNote')}</p>
          <a class="button" href="/creators">${text('creators.all')}</a>
        </section>`

  const subscribers = formatSubscribers(value)
  return html`<div class="head">
      <div>
        ${back}
        <h1 class="with-picture">
          <${ChannelPicture} creator=${value} name=${getCreatorName(value)} /><bdi>${getCreatorName(value)}</bdi>
        </h1>
        <p class="quiet facts">
          ${value.handle && html`<bdi>${value.handle}</bdi>`} ${subscribers && html`<span>${subscribers}</span>`}
          ${value.asOf && html`<span class=${value.stale ? 'stale' : ''}>${rich(value.stale ? 'campaign.oldNumbers' : 'campaign.asOf', { time: html`<${Clock} at=${value.asOf} />` })}</span>`}
        </p>
      </div>
      <div class="tools">
        ${CHANNEL_ID.test(id) && html`<a class="button" href=${`https://www.youtube.com/channel/${id}`} target="_blank" rel="noreferrer noopener">${text('creators.channel')}</a>`}
      </div>
    </div>
    <${ErrorMessage} text=${creator.fault} />
    <${CreatorCards} creator=${value} />
    <${CreatorCampaigns} rows=${value.campaigns} />
    <${ChannelChart} history=${value.history} />
    <${CreatorVideos} creator=${value} />`
}

function CreatorCards({
  creator: { stats: sums, rate, fees = [], costs, campaignCount },
}: {
  creator: CreatorWithVideos
}) {
  const currency = fees[0]?.currency
  return html`<dl class="cards">
    <${Card} title=${text('measure.views')} value=${formatSum(sums, sums.impressions)}
      >${text('creators.inCampaigns', { count: campaignCount })}</${Card}
    >
    <${Card} title=${text('measure.engagements')} value=${formatSum(sums, sums.engagements)} />
    <${Card} title=${text('measure.rate')} value=${formatRate(rate)}
      >${rate !== undefined && text('measure.ofAllViews')}</${Card}
    >
    <${Card} title=${text('videos.title')} value=${formats.count(sums.videos)} />
    ${
      fees.length > 0 &&
      html`<${Card}
          title=${text('creators.fees')}
          value=${fees.map(({ currency: unit, amount }) => formats.amount(amount, unit)).join(' + ')}
        />
        ${costs && html`<${Card} title=${text('campaign.perThousand')} value=${formatMoney(costs.perThousandViews, currency)}>${costs.perThousandViews !== undefined && text('creators.withoutPosts')}</${Card}>`}`
    }
  </dl>`
}

function CreatorCampaigns({ rows }: { rows: readonly CreatorCampaign[] }) {
  return html`<section class="panel" aria-label=${text('creators.campaigns')}>
    <div class="panel-head"><h2>${text('creators.campaigns')}</h2></div>
    <table class="creators">
      <thead>
        <tr>
          <th scope="col">${text('list.campaign')}</th>
          <th scope="col" class="number">${text('measure.views')}</th>
          <th scope="col" class="number wide">${text('measure.engagements')}</th>
          <th scope="col" class="number wide">${text('creators.rate')}</th>
          <th scope="col" class="number wide">${text('creators.share')}</th>
          <th scope="col" class="number wide">${text('creators.fee')}</th>
          <th scope="col" class="number">${text('creators.perThousand')}</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ({ id, name, currency, stats: sums, rate, share, fee, costs }) =>
            html`<tr key=${id}>
              <th scope="row">
                <a class="name" href=${`/campaigns/${encodeURIComponent(id)}?tab=creators`}
                  ><bdi>${getTitle({ id, name })}</bdi></a
                >
              </th>
              <td class="number">${formatSum(sums, sums.impressions)}</td>
              <td class="number wide">${formatSum(sums, sums.engagements)}</td>
              <td class="number wide">${formatRate(rate)}</td>
              <td class="number wide">${formatRate(sums.videos === 0 ? undefined : share)}</td>
              <td class="number wide">${fee === undefined ? '–' : formats.amount(fee, currency)}</td>
              <td class="number">${formatMoney(costs?.perThousandViews, currency)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </section>`
}

const MEASURES = [
  ['subscribers', text('creators.subscribers')],
  ['views', text('creators.channelViews')],
  ['videos', text('creators.channelVideos')],
] as const
type ChannelMeasure = (typeof MEASURES)[number][0]

/** The counts of the channel over time, all videos of the channel included. */
function ChannelChart({ history }: Pick<CreatorWithVideos, 'history'>) {
  const known = MEASURES.filter(([measure]) => history.some((point) => point[measure] !== undefined))
  const [chosen, setChosen] = useState<ChannelMeasure>('subscribers')
  const [measure, name] = known.find(([one]) => one === chosen) ?? known[0] ?? MEASURES[0]
  const points = history.filter((point) => point[measure] !== undefined)
  if (points.length === 0) return null
  const values = points.map((point) => point[measure]!)
  const data = [points.map(({ at }) => Date.parse(at) / 1_000), values] as [number[], number[]]
  return html`<section class="panel" aria-label=${text('creators.history')}>
    <div class="panel-head">
      <h2>${text('creators.history')}</h2>
      <${Tabs} label=${text('creators.measure')} options=${known} value=${measure} onChange=${setChosen} />
    </div>
    ${
      points.length < 2
        ? html`<p class="quiet none">${text('creators.historySoon')}</p>`
        : html`<${TimeChart}
            key=${measure}
            data=${data}
            names=${[name]}
            isFromZero=${false}
            summary=${text('creators.historySummary', { name, first: values[0]!, last: values.at(-1)! })}
          />`
    }
  </section>`
}

function CreatorVideos({ creator: { videos, stats: sums } }: { creator: CreatorWithVideos }) {
  if (videos.length === 0) return null
  const shown = videos.slice(0, MAX_VIDEOS)
  return html`<section class="panel" aria-label=${text('videos.title')}>
    <div class="panel-head"><h2>${text('videos.title')}</h2></div>
    <table class="videos">
      <thead>
        <tr>
          <th scope="col">${text('videos.video')}</th>
          <th scope="col" class="number">${text('measure.views')}</th>
          <th scope="col" class="number wide">${text('videos.likes')}</th>
          <th scope="col" class="number wide">${text('videos.comments')}</th>
        </tr>
      </thead>
      <tbody>
        ${shown.map(
          (video) =>
            html`<tr key=${video.id} class=${video.gone ? 'gone' : ''}>
              <th scope="row">
                <div class="video">
                  <${Thumbnail} base="/thumbnails" video=${video.id} />
                  <span>
                    <a class="name" href=${video.url} target="_blank" rel="noreferrer noopener"
                      ><bdi>${getTitle({ id: video.id, name: video.title })}</bdi></a
                    >
                    <span class="quiet below">
                      ${video.publishedAt && html`<span>${formats.day(Date.parse(video.publishedAt))}</span>`}
                      <span>${text('creators.inCampaigns', { count: video.campaigns.length })}</span>
                      <${VideoLabels} video=${video} />
                    </span>
                  </span>
                </div>
              </th>
              <td class="number">${video.views === undefined ? '–' : formats.count(video.views)}</td>
              <td class="number wide">${video.likes === undefined ? '–' : formats.count(video.likes)}</td>
              <td class="number wide">${video.comments === undefined ? '–' : formats.count(video.comments)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
    ${sums.videos > shown.length && html`<p class="quiet">${text('creators.topVideos', { count: shown.length })}</p>`}
  </section>`
}
