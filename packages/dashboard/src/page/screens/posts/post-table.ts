import type { PostResource } from '@influencer-stats/stats/client'
import { html } from '../../html.ts'
import { formats } from '../../page-state.ts'
import { text } from '../../texts/texts.ts'
import { getPlatformName, getPostName } from './post-name.ts'

interface PostTableProps {
  readonly posts: readonly PostResource[]
  /** Titles of the channels of the campaign, by id. */
  readonly channels: ReadonlyMap<string | undefined, string | undefined>
  isPending(post: PostResource): boolean
  /** Absent for readers. */
  edit?(post: PostResource): void
  remove?(post: PostResource): void
}

const COUNTS = [
  ['views', 'measure.views', 'number'],
  ['likes', 'videos.likes', 'number wide'],
  ['comments', 'videos.comments', 'number wide'],
  ['shares', 'posts.shares', 'number wide'],
  ['saves', 'posts.saves', 'number wide'],
] as const

export const formatReportedCount = (value: number | undefined) => (value === undefined ? '–' : formats.count(value))

/** The posts with their last reported numbers, those with the most views first. */
export function PostTable({ posts, channels, isPending, edit, remove }: PostTableProps) {
  const sorted = posts.toSorted((a, b) => (b.numbers?.views ?? -1) - (a.numbers?.views ?? -1))
  return html`<table class="posts">
    <thead>
      <tr>
        <th scope="col">${text('posts.post')}</th>
        ${COUNTS.map(([name, title, kind]) => html`<th key=${name} scope="col" class=${kind}>${text(title)}</th>`)}
        <th scope="col" class="wide">${text('posts.asOf')}</th>
        ${edit && html`<th><span class="hidden">${text('posts.change')}</span></th>`}
      </tr>
    </thead>
    <tbody>
      ${sorted.map((post) => html`<${PostRow} key=${post.id} post=${post} channels=${channels} isPending=${isPending(post)} edit=${edit} remove=${remove} />`)}
    </tbody>
  </table>`
}

interface PostRowProps extends Pick<PostTableProps, 'channels' | 'edit' | 'remove'> {
  readonly post: PostResource
  readonly isPending: boolean
}

function PostRow({ post, channels, isPending, edit, remove }: PostRowProps) {
  const { platform, url, creator, numbers } = post
  const name = getPostName(post)
  const asOf = numbers ? formats.day(Date.parse(numbers.asOf)) : text('posts.noNumbers')
  return html`<tr class=${isPending ? 'gone' : ''}>
    <th scope="row">
      <a class="name" href=${url} title=${url} target="_blank" rel="noreferrer noopener"><bdi>${name}</bdi></a>
      <span class="quiet below">
        <span>${getPlatformName(platform)}</span>
        ${creator && html`<bdi>${channels.get(creator) ?? creator}</bdi>`}
        <span class="under">${asOf}</span>
      </span>
    </th>
    ${COUNTS.map(([count, , kind]) => html`<td key=${count} class=${kind}>${formatReportedCount(numbers?.[count])}</td>`)}
    <td class="wide">${asOf}</td>
    ${
      edit &&
      remove &&
      html`<td class="post-tools">
        <button disabled=${isPending} aria-label=${text('posts.numbersOf', { name })} onClick=${() => edit(post)}>
          ${text('posts.numbers')}
        </button>
        <button
          class="icon"
          disabled=${isPending}
          aria-label=${text('videos.removeOne', { name })}
          onClick=${() => remove(post)}
        >
          ✕
        </button>
      </td>`
    }
  </tr>`
}
