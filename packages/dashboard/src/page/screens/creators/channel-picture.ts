import type { CampaignCreator } from '@influencer-stats/stats/client'
import { useState } from 'preact/hooks'
import { html } from '../../html.ts'

interface ChannelPictureProps {
  readonly creator: Pick<CampaignCreator, 'thumbnail'>
  readonly name: string
}

/** The picture of a channel, or its initial if there is none. It repeats the name next to it, so it has no text. */
export function ChannelPicture({ creator: { thumbnail }, name }: ChannelPictureProps) {
  const [isMissing, setMissing] = useState(false)
  if (!thumbnail || isMissing)
    return html`<span class="initial" aria-hidden="true">${[...name][0]?.toUpperCase()}</span>`
  // The dashboard passes it on: the page requests nothing from YouTube.
  const path = `/thumbnails/channels/${thumbnail.replace('https://', '')}`
  return html`<img
    class="initial"
    src=${path}
    alt=""
    width="36"
    height="36"
    loading="lazy"
    decoding="async"
    onError=${() => setMissing(true)}
  />`
}
