import type { CollectionRow, PostResource } from '@influencer-stats/stats/client'
import { useEffect, useState } from 'preact/hooks'
import { CHANNEL_ID } from '../../core/names.ts'
import { removePost, type CampaignSource } from '../../api.ts'
import { useLast, useLoaded } from '../../hooks.ts'
import { html } from '../../html.ts'
import { formats } from '../../page-state.ts'
import { Dialog, ErrorMessage } from '../../parts/dialog.ts'
import { completed, removeLater, toPostKey, usePendingRemovals } from '../../pending-removals.ts'
import { text } from '../../texts/texts.ts'
import { ContentAddition } from '../content-addition.ts'
import { NumbersImport } from './numbers-import.ts'
import { PostNumbers } from './post-numbers.ts'
import { PostTable } from './post-table.ts'
import { ReportedChart } from './reported-chart.ts'
import { getPostName } from './post-name.ts'

interface CampaignPostsProps {
  readonly row: CollectionRow
  readonly source: CampaignSource
  readonly canChange: boolean
  readonly query: URLSearchParams
  reload(): void
  show(change: Record<string, string>): void
}

/** The posts of other platforms of a campaign. People and programs report their numbers, which are never live. */
export function CampaignPosts({ row, source, canChange, query, reload, show }: CampaignPostsProps) {
  const reported = row.stats?.reported
  const loaded = useLoaded(() => source.getPosts(), [source], [JSON.stringify(reported)])
  const posts = useLast(loaded.value)
  // A creator may be a channel: the videos of the campaign know its title.
  const hasChannels = posts?.some(({ creator }) => creator !== undefined && CHANNEL_ID.test(creator)) ?? false
  const videos = useLoaded(async () => (hasChannels ? await source.getVideos() : []), [source, hasChannels])
  const channels = new Map(videos.value?.map(({ channelId, channel }) => [channelId, channel]))
  const pending = usePendingRemovals()
  const [open, setOpen] = useState<{ readonly post: string } | 'import' | undefined>()
  const isPosts = posts !== undefined && posts.length > 0
  const reloadAll = () => {
    loaded.reload()
    reload()
  }
  useEffect(
    () => completed.add((key) => void (posts?.some(({ id }) => toPostKey(row.id, id) === key) && reloadAll())),
    [posts, loaded.reload, reload],
  )
  const remove = (post: PostResource) =>
    removeLater({
      key: toPostKey(row.id, post.id),
      name: getPostName(post),
      run: () => removePost(row.id, post.id),
    })
  const close = () => setOpen(undefined)
  const edited = typeof open === 'object' ? posts?.find(({ id }) => id === open.post) : undefined
  return html`<section class="panel" aria-label=${text('posts.title')}>
      <div class="panel-head">
        <h2>${text('posts.title')}</h2>
        ${canChange && isPosts && html`<button onClick=${() => setOpen('import')}>${text('posts.import')}</button>`}
      </div>
      <p class="quiet note">
        ${reported?.asOf === undefined ? text('posts.note') : text('posts.noteAsOf', { time: formats.moment(Date.parse(reported.asOf)) })}
      </p>
      <${ErrorMessage} text=${loaded.fault} />
      ${
        isPosts &&
        html`<${PostTable}
          posts=${posts}
          channels=${channels}
          isPending=${({ id }: PostResource) => pending.has(toPostKey(row.id, id))}
          ...${canChange && { edit: ({ id }: PostResource) => setOpen({ post: id }), remove }}
        />`
      }
      ${posts?.length === 0 && html`<p class="quiet none">${text('posts.none')}</p>`}
      ${canChange && html`<${ContentAddition} row=${row} kind="post" reload=${reloadAll} />`}
    </section>
    ${
      isPosts &&
      reported?.asOf !== undefined &&
      html`<${ReportedChart} source=${source} reported=${reported} query=${query} show=${show} />`
    }
    ${edited && html`<${Dialog} title=${getPostName(edited)} onClose=${close}><${PostNumbers} campaign=${row.id} post=${edited} reload=${reloadAll} /></${Dialog}>`}
    ${open === 'import' && html`<${Dialog} title=${text('posts.import')} onClose=${close}><${NumbersImport} campaign=${row.id} posts=${posts!} reload=${reloadAll} onDone=${close} /></${Dialog}>`}`
}
