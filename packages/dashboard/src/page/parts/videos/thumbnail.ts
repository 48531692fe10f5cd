import { useState } from 'preact/hooks'
import { html } from '../../html.ts'

interface ThumbnailProps {
  /** Path of the pictures, such as `/thumbnails`. */
  readonly base: string
  readonly video: string
}

/** The picture of a video, or an empty field if there is none. It repeats the title next to it, so it has no text. */
export function Thumbnail({ base, video }: ThumbnailProps) {
  const [isMissing, setMissing] = useState(false)
  return html`<span class="thumbnail">
    ${!isMissing && html`<img src=${`${base}/${video}`} alt="" width="80" height="45" loading="lazy" decoding="async" onError=${() => setMissing(true)} />`}
  </span>`
}
