import type { Video } from '@influencer-stats/stats/client'
import { html } from '../../html.ts'
import { text } from '../../texts/texts.ts'

/** Labels of a video that is a Short, live, or announced. */
export function VideoLabels({ video: { live, isShort } }: { video: Pick<Video, 'live' | 'isShort'> }) {
  if (live === 'live') return html`<span class="badge live">${text('videos.live')}</span>`
  if (live === 'upcoming') return html`<span class="badge">${text('videos.upcoming')}</span>`
  return isShort ? html`<span class="badge">${text('videos.short')}</span>` : null
}
