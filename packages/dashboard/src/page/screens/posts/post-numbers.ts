import { ServiceError } from '@influencer-stats/runtime/service-error'
import type { PostNumbersResource, PostResource } from '@influencer-stats/stats/client'
import { useState } from 'preact/hooks'
import { stats } from '../../api.ts'
import { parseCount } from '../../core/posts/count-input.ts'
import { useChange, useLast, useLoaded } from '../../hooks.ts'
import { html, onText } from '../../html.ts'
import { formats } from '../../page-state.ts'
import { ErrorMessage, useUnsaved } from '../../parts/dialog.ts'
import { text } from '../../texts/texts.ts'
import { formatReportedCount } from './post-table.ts'

const COUNTS = [
  ['views', 'measure.views'],
  ['likes', 'videos.likes'],
  ['comments', 'videos.comments'],
  ['shares', 'posts.shares'],
  ['saves', 'posts.saves'],
] as const
type FieldName = (typeof COUNTS)[number][0] | 'at' | 'note'

const EMPTY: Readonly<Record<FieldName, string>> = {
  views: '',
  likes: '',
  comments: '',
  shares: '',
  saves: '',
  at: '',
  note: '',
}

interface PostNumbersProps {
  readonly campaign: string
  readonly post: PostResource
  reload(): void
}

/** Reports numbers of a post, and shows those that were reported. */
export function PostNumbers({ campaign, post, reload }: PostNumbersProps) {
  const [typed, setTyped] = useState(EMPTY)
  const [fault, setFault] = useState<string | undefined>()
  const [deleted, setDeleted] = useState<PostNumbersResource | undefined>()
  const change = useChange()
  const loaded = useLoaded(() => stats.listNumbers(campaign, post.id), [campaign, post.id], [JSON.stringify(post)])
  const reports = useLast(loaded.value) ?? []
  useUnsaved(Object.values(typed).some(Boolean))
  const bind = (name: FieldName) => ({
    name,
    value: typed[name],
    onInput: onText((value) => setTyped((before) => ({ ...before, [name]: value }))),
  })

  async function report(numbers: Parameters<typeof stats.reportNumbers>[2]): Promise<boolean> {
    const isStored = await change.run(async () => {
      if (!(await stats.reportNumbers(campaign, post.id, numbers))) throw new ServiceError(404, 'POST_NOT_FOUND')
    })
    if (isStored) {
      loaded.reload()
      reload()
    }
    return isStored
  }

  async function submit(event: SubmitEvent) {
    event.preventDefault()
    setFault(undefined)
    const read = COUNTS.map(([name, title]) => ({ name, title, count: parseCount(typed[name]) }))
    const wrong = read.find(({ count }) => count === undefined)
    if (wrong) {
      const values = { field: text(wrong.title), example: formats.count(12_500) }
      return setFault(text('posts.notCount', values))
    }
    const counts = Object.fromEntries(read.flatMap(({ name, count }) => (count === null ? [] : [[name, count!]])))
    if (Object.keys(counts).length === 0) return setFault(text('error.NO_NUMBERS'))
    const at = typed.at === '' ? {} : { at: new Date(typed.at).toISOString() }
    const note = typed.note.trim() === '' ? {} : { note: typed.note.trim() }
    if (await report({ ...counts, ...at, ...note })) setTyped(EMPTY)
  }

  async function remove(numbers: PostNumbersResource) {
    if (!(await change.run(() => stats.deleteNumbers(campaign, post.id, numbers.at)))) return
    setDeleted(numbers)
    loaded.reload()
    reload()
  }
  async function restore(numbers: PostNumbersResource) {
    if (await report(numbers)) setDeleted(undefined)
  }

  return html`<form class="form" onSubmit=${submit}>
      <div class="counts">
        ${COUNTS.map(([name, title]) => html`<label key=${name}>${text(title)} <input inputmode="numeric" autocomplete="off" ...${bind(name)} /></label>`)}
      </div>
      <label
        ><span>${text('posts.at')} <span class="quiet">${text('posts.atNote')}</span></span>
        <input type="datetime-local" ...${bind('at')} />
      </label>
      <label>${text('posts.noteField')} <input maxlength="500" ...${bind('note')} /></label>
      <${ErrorMessage} text=${fault ?? change.fault} />
      <div class="actions"><button class="primary" disabled=${change.isBusy}>${text('posts.save')}</button></div>
    </form>
    <${ErrorMessage} text=${loaded.fault} />
    <p class="deleted-numbers" role="status">
      ${
        deleted &&
        html`${text('posts.deleted', { time: formats.moment(Date.parse(deleted.at)) })}
          <button type="button" disabled=${change.isBusy} onClick=${() => restore(deleted)}>
            ${text('undo.undo')}
          </button>`
      }
    </p>
    ${reports.length > 0 && html`<${ReportList} reports=${reports} isBusy=${change.isBusy} remove=${remove} />`}`
}

interface ReportListProps {
  readonly reports: readonly PostNumbersResource[]
  readonly isBusy: boolean
  remove(report: PostNumbersResource): void
}

/** The reported numbers, the newest first. */
const ReportList = ({ reports, isBusy, remove }: ReportListProps) =>
  html`<ul class="report-list" aria-label=${text('posts.reports')}>
    ${reports.toReversed().map((report) => {
      const time = formats.moment(Date.parse(report.at))
      const counts = COUNTS.filter(([name]) => report[name] !== undefined)
      return html`<li key=${report.at}>
        <div>
          <span class="quiet">${time}</span>
          <span class="below">
            ${counts.map(([name, title]) => html`<span key=${name}>${text(title)} <b>${formatReportedCount(report[name])}</b></span>`)}
          </span>
          ${report.note && html`<bdi class="quiet">${report.note}</bdi>`}
        </div>
        <button
          type="button"
          class="icon"
          disabled=${isBusy}
          aria-label=${text('posts.deleteNumbers', { time })}
          onClick=${() => remove(report)}
        >
          ✕
        </button>
      </li>`
    })}
  </ul>`
