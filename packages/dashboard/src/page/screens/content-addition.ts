import { ServiceError } from '@influencer-stats/runtime/service-error'
import type { CollectionRow, PreviewItem } from '@influencer-stats/stats/client'
import { useState } from 'preact/hooks'
import { addPost, stats } from '../api.ts'
import { useChange } from '../hooks.ts'
import { html, onText } from '../html.ts'
import { ErrorMessage, useUnsaved } from '../parts/dialog.ts'
import { PastePreview, toSourceName, usePastePreview } from '../parts/paste-preview.ts'
import { text } from '../texts/texts.ts'
import { follow } from './sources/change-sources.ts'

/** Words of the field for videos and of that for posts. */
const FIELD_TEXTS = {
  video: ['videos.addLabel', 'videos.addPlaceholder'],
  post: ['posts.addLabel', 'posts.addPlaceholder'],
} as const

interface ContentAdditionProps {
  readonly row: CollectionRow
  /** Kind of the links in the label of the field. The field accepts both kinds. */
  readonly kind: keyof typeof FIELD_TEXTS
  reload(): void
}

/** Adds pasted links of videos and of posts of other platforms. */
export function ContentAddition({ row, kind, reload }: ContentAdditionProps) {
  const { id, version } = row
  const [pasted, setPasted] = useState('')
  /** Channels that are followed: the preview does not know it of those that it knows only by a name. */
  const [followed, setFollowed] = useState<readonly string[]>([])
  const change = useChange()
  const { preview: read, isCurrent, videos: found, posts, fault } = usePastePreview(pasted, { id, version })
  const toMember = (item: PreviewItem): PreviewItem =>
    item.state === 'new' && followed.includes(toSourceName(item)) ? { ...item, state: 'member' } : item
  const preview = { ...read, items: read.items.map(toMember) }
  const count = found.length + posts.length
  useUnsaved(count > 0)
  async function submit(event: Event) {
    event.preventDefault()
    if (!isCurrent || count === 0) return
    // The other items remain in the field.
    const rest = preview.items.flatMap(({ state, type, text: line }) =>
      state === 'refused' || state === 'unknown' || (state === 'new' && type !== 'video' && type !== 'post')
        ? [line]
        : [],
    )
    await change.run(async () => {
      let firstFault: unknown
      for (const video of found)
        try {
          if (!(await stats.addVideo(id, video))) throw new ServiceError(404, 'COLLECTION_NOT_FOUND')
        } catch (error) {
          rest.push(`https://youtu.be/${video}`)
          firstFault ??= error
        }
      for (const post of posts)
        try {
          await addPost(id, post)
        } catch (error) {
          rest.push(post.url!)
          firstFault ??= error
        }
      if (firstFault !== undefined) throw firstFault
    })
    setPasted(rest.join('\n'))
    reload()
  }
  const followOne = async (item: PreviewItem) => {
    const source = toSourceName(item)
    if (!(await change.run(() => follow(id, { id: source })))) return
    setFollowed([...followed, source])
    reload()
  }
  const [label, placeholder] = FIELD_TEXTS[kind]
  return html`<form class="addition" onSubmit=${submit}>
    <textarea
      name="video"
      rows="1"
      aria-label=${text(label)}
      placeholder=${text(placeholder)}
      value=${pasted}
      onInput=${onText(setPasted)}
      onKeyDown=${submitOnEnter}
    ></textarea>
    <button disabled=${change.isBusy || !isCurrent || count === 0}>
      ${count > 1 ? text('videos.addCount', { count }) : text('videos.add')}
    </button>
    <${PastePreview} preview=${preview} fault=${fault} follow=${followOne} />
    <${ErrorMessage} text=${change.fault} />
  </form>`
}

/** Enter submits one line, as in a field for one. */
function submitOnEnter(event: KeyboardEvent) {
  const field = event.currentTarget as HTMLTextAreaElement
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing || field.value.includes('\n')) return
  event.preventDefault()
  field.form?.requestSubmit()
}
