import type { CollectionRow, Video } from '@influencer-stats/stats/client'
import { useEffect } from 'preact/hooks'
import { removeVideo, type CampaignSource } from '../api.ts'
import { getTitle } from '../core/names.ts'
import { formatHiddenBadge, getStatedCount, type CountName } from '../core/counts.ts'
import { useLast, useLoaded } from '../hooks.ts'
import { DEFAULT_VIDEO_SORT, parseVideoSort, selectVideos } from '../core/listing/select-videos.ts'
import { html } from '../html.ts'
import { ErrorMessage } from '../parts/dialog.ts'
import { Bar } from '../parts/cards.ts'
import { SearchField } from '../parts/search-field.ts'
import { SortHeader } from '../parts/sort-header.ts'
import { Thumbnail } from '../parts/videos/thumbnail.ts'
import { VideoLabels } from '../parts/videos/video-labels.ts'
import { formats } from '../page-state.ts'
import { text } from '../texts/texts.ts'
import { completed, removeLater, usePendingRemovals, toVideoKey } from '../pending-removals.ts'
import { ContentAddition } from './content-addition.ts'

interface VideosProps {
  readonly row: CollectionRow
  readonly source: CampaignSource
  /** Time of the newest sums. When it changes, the numbers of the videos are read again. */
  readonly asOf: string | undefined
  readonly canChange: boolean
  /** The order and the search are in the address. */
  readonly query: URLSearchParams
  reload(): void
  show(change: Record<string, string>): void
}

/** The videos of a campaign, by default in descending order of views. */
export function CampaignVideos({ row, source, asOf, canChange, query, reload, show }: VideosProps) {
  const videos = useLoaded(() => source.getVideos(), [source, row.videos.join()], [asOf])
  // After an edit the table remains until the new one is read.
  const shown = useLast(videos.value)
  const pending = usePendingRemovals()
  useEffect(
    () => completed.add((key) => void (row.videos.some((id) => toVideoKey(row.id, id) === key) && reload())),
    [row, reload],
  )
  const remove = (video: Video) =>
    removeLater({
      key: toVideoKey(row.id, video.id),
      name: getTitle({ id: video.id, name: video.title }),
      run: () => removeVideo(row.id, video.id),
    })

  const all = shown ?? []
  const sort = parseVideoSort(query.get('order'))
  const q = query.get('find') ?? ''
  const selected = selectVideos(all, sort, q)
  const onSort = (order: string) => show({ order: order === DEFAULT_VIDEO_SORT ? '' : order })
  const head = (column: string, title: string, kind = 'number') =>
    html`<${SortHeader} column=${column} title=${title} sort=${sort} kind=${kind} onChange=${onSort} />`
  const sources = new Map(row.sources?.map(({ id, title }) => [id, title ?? id]))
  const views = all.reduce((sum, video) => sum + (video.views ?? 0), 0)
  return html`<section class="panel" aria-label=${text('videos.title')}>
    <div class="panel-head">
      <h2>${text('videos.title')}</h2>
      ${all.length > 1 && html`<${SearchField} q=${q} label=${text('videos.search')} placeholder=${text('creators.searchShort')} onChange=${(find: string) => show({ find })} />`}
    </div>
    <${ErrorMessage} text=${videos.fault} />
    ${
      selected.length > 0 &&
      html`<table class="videos">
        <thead>
          <tr>
            <${SortHeader}
              column="title"
              title=${text('videos.video')}
              sort=${sort}
              isText=${true}
              onChange=${onSort}
            />
            ${head('views', text('measure.views'))}
            <th scope="col" class="share-head wide">${text('videos.share')}</th>
            ${head('publishedAt', text('videos.published'), 'wide')}
            ${head('likes', text('videos.likes'), 'number wide')}
            ${head('comments', text('videos.comments'), 'number wide')}
            ${canChange && html`<th><span class="hidden">${text('videos.remove')}</span></th>`}
          </tr>
        </thead>
        <tbody>
          ${selected.map((video) => html`<${VideoRow} key=${video.id} video=${video} thumbnails=${source.thumbnails} addedBy=${sources.get(row.followed?.[video.id] ?? '')} views=${views} canChange=${canChange} isPending=${pending.has(toVideoKey(row.id, video.id))} remove=${remove} />`)}
        </tbody>
      </table>`
    }
    ${all.length > 0 && selected.length === 0 && html`<p class="quiet none">${text('videos.noMatch')}</p>`}
    ${shown?.length === 0 && html`<p class="quiet none">${text('videos.none')}</p>`}
    ${canChange && html`<${ContentAddition} row=${row} kind="video" reload=${reload} />`}
  </section>`
}

interface VideoRowProps {
  readonly video: Video
  /** Path of the pictures. */
  readonly thumbnails: string
  /** Title of the source that added the video. */
  readonly addedBy: string | undefined
  readonly views: number
  readonly canChange: boolean
  readonly isPending: boolean
  remove(video: Video): void
}

function VideoRow({ video, thumbnails, addedBy, views, canChange, isPending, remove }: VideoRowProps) {
  const { id, url, channel, gone: removed, missing } = video
  const title = getTitle({ id, name: video.title })
  const share = video.views === undefined ? undefined : views > 0 ? video.views / views : 0
  const count = (name: CountName) => {
    const value = getStatedCount(video, name)
    return value === undefined ? '–' : formats.count(value)
  }
  const badge = formatHiddenBadge(video, formats.count)
  const isUnread = video.views === undefined && !missing && !badge
  return html`<tr class=${removed || missing || isPending ? 'gone' : ''}>
    <th scope="row">
      <div class="video">
        <${Thumbnail} base=${thumbnails} video=${id} /><span>
          <a class="name" href=${url} target="_blank" rel="noreferrer noopener"><bdi>${title}</bdi></a>
          <span class="quiet below">
            ${channel && html`<bdi>${channel}</bdi>`}
            ${video.publishedAt && html`<span class="under">${formats.day(Date.parse(video.publishedAt))}</span>`}
            <${VideoLabels} video=${video} />
            ${addedBy !== undefined && html`<bdi>${addedBy === channel ? text('sources.addedItself') : text('sources.addedBy', { name: addedBy })}</bdi>`}
            ${removed && html`<span class="badge">${text('videos.removedSince', { day: formats.day(Date.parse(removed.since)) })}</span>`}
            ${missing && html`<span class="badge">${text('videos.notFound')}</span>`}
            ${isUnread && html`<span class="badge">${text('videos.notRead')}</span>`}
            ${badge && html`<span class="badge">${badge}</span>`}
          </span>
        </span>
      </div>
    </th>
    <td class="number">
      ${count('views')}${share !== undefined && html`<span class="under quiet">${formats.percent(share)}</span>`}
    </td>
    <td class="share-cell wide">
      ${share === undefined ? '–' : html`<${Bar} share=${share} /><span>${formats.percent(share)}</span>`}
    </td>
    <td class="wide">${video.publishedAt ? formats.day(Date.parse(video.publishedAt)) : '–'}</td>
    <td class="number wide">${count('likes')}</td>
    <td class="number wide">${count('comments')}</td>
    ${canChange && html`<td><button class="icon" disabled=${isPending} aria-label=${text('videos.removeOne', { name: title })} title=${text('videos.remove')} onClick=${() => remove(video)}>✕</button></td>`}
  </tr>`
}
