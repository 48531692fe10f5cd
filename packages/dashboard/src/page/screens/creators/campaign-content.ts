import type { CollectionRow } from '@influencer-stats/stats/client'
import type { CampaignSource } from '../../api.ts'
import { html } from '../../html.ts'
import { onDemand } from '../../on-demand.ts'
import { Tabs } from '../../parts/tabs.ts'
import { text } from '../../texts/texts.ts'
import { CampaignVideos } from '../campaign-videos.ts'

const CampaignCreators = onDemand(async () => (await import('./campaign-creators.ts')).CampaignCreators)

interface CampaignContentProps {
  readonly row: CollectionRow
  readonly source: CampaignSource
  readonly asOf: string | undefined
  /** False on the page of a share link, which shows neither fees nor creators. */
  readonly isOwn: boolean
  readonly canChange: boolean
  readonly query: URLSearchParams
  reload(): void
  show(change: Record<string, string>): void
}

/** The videos of a campaign, or its creators. The choice is in the address. */
export function CampaignContent({ isOwn, query, show, ...content }: CampaignContentProps) {
  const isCreators = isOwn && query.get('tab') === 'creators'
  return html`${
    isOwn &&
    html`<div class="sections">
      <${Tabs}
        label=${text('creators.section')}
        options=${[
          ['', text('videos.title')],
          ['creators', text('creators.title')],
        ]}
        value=${isCreators ? 'creators' : ''}
        onChange=${(tab: string) => show({ tab })}
      />
    </div>`
  }
  ${isCreators ? html`<${CampaignCreators} ...${content} />` : html`<${CampaignVideos} ...${content} query=${query} show=${show} />`}`
}
