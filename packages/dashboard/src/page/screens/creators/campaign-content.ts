import type { CollectionRow } from '@influencer-stats/stats/client'
import type { CampaignSource } from '../../api.ts'
import { html } from '../../html.ts'
import { onDemand } from '../../on-demand.ts'
import { Tabs } from '../../parts/tabs.ts'
import { text } from '../../texts/texts.ts'
import { CampaignVideos } from '../campaign-videos.ts'

const CampaignPosts = onDemand(async () => (await import('../posts/campaign-posts.ts')).CampaignPosts)
const CampaignCreators = onDemand(async () => (await import('./campaign-creators.ts')).CampaignCreators)
const CampaignSources = onDemand(async () => (await import('../sources/campaign-sources.ts')).CampaignSources)

/** The content of each tab. */
const PARTS = { '': CampaignVideos, posts: CampaignPosts, creators: CampaignCreators, sources: CampaignSources }

interface CampaignContentProps {
  readonly row: CollectionRow
  readonly source: CampaignSource
  readonly asOf: string | undefined
  /** False on the page of a share link, which shows neither fees nor creators, and posts only if there are some. */
  readonly isOwn: boolean
  readonly canChange: boolean
  readonly query: URLSearchParams
  reload(): void
  show(change: Record<string, string>): void
}

/** The videos of a campaign, its posts, its creators, or its sources. The choice is in the address. */
export function CampaignContent({ isOwn, query, show, ...content }: CampaignContentProps) {
  const hasPosts = isOwn || content.row.stats?.reported !== undefined
  const tabs = [
    ['', text('videos.title')],
    ...(hasPosts ? [['posts', text('posts.title')]] : []),
    ...(isOwn
      ? [
          ['creators', text('creators.title')],
          ['sources', text('sources.title')],
        ]
      : []),
  ]
  const chosen = query.get('tab') ?? ''
  const tab = tabs.some(([name]) => name === chosen) ? chosen : ''
  const Part = PARTS[tab as keyof typeof PARTS]
  return html`${
      tabs.length > 1 &&
      html`<div class="sections">
        <${Tabs}
          label=${text('creators.section')}
          options=${tabs}
          value=${tab}
          onChange=${(next: string) => show({ tab: next })}
        />
      </div>`
    } <${Part} key=${tab} ...${content} query=${query} show=${show} />`
}
