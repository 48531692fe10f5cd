import type { CollectionRow, SourceStatus } from '@influencer-stats/stats/client'
import { useState } from 'preact/hooks'
import { stats } from '../../api.ts'
import { useChange, useLast, useLoaded } from '../../hooks.ts'
import { html, onText } from '../../html.ts'
import { formats } from '../../page-state.ts'
import { Dialog, ErrorMessage, useUnsaved } from '../../parts/dialog.ts'
import { rich, text } from '../../texts/texts.ts'
import { useRefresh } from '../../use-refresh.ts'
import { changeSources, follow } from './change-sources.ts'
import { describeProblem, isProblem, SourceChecks } from './source-state.ts'
import { describeWords, formatWords, parseWords } from './source-words.ts'

interface CampaignSourcesProps {
  readonly row: CollectionRow
  /** Time of the newest sums. When it changes, the state of the sources is read again. */
  readonly asOf: string | undefined
  readonly canChange: boolean
  reload(): void
}

/** The channels and playlists that a campaign follows: what each one added, and its checks. */
export function CampaignSources({ row, asOf, canChange, reload }: CampaignSourcesProps) {
  const loaded = useLoaded(() => stats.listSources(row.id), [row.id], [row.version, asOf])
  useRefresh(loaded.reload)
  const sources = useLast(loaded.value)
  const [edited, setEdited] = useState<SourceStatus | undefined>()
  const change = useChange()
  const done = () => {
    setEdited(undefined)
    loaded.reload()
    reload()
  }
  const remove = async ({ id }: SourceStatus) =>
    void ((await change.run(() => changeSources(row.id, (all) => all.filter((one) => one.id !== id)))) && done())
  return html`<section class="panel sources" aria-label=${text('sources.title')}>
    <div class="panel-head"><h2>${text('sources.title')}</h2></div>
    <p class="quiet note">${text(row.from === undefined ? 'sources.noteSince' : 'sources.note')}</p>
    <${ErrorMessage} text=${loaded.fault ?? change.fault} />
    ${sources && sources.length > 0 && html`<${SourceTable} sources=${sources} canChange=${canChange && !change.isBusy} edit=${setEdited} remove=${remove} />`}
    ${sources?.length === 0 && html`<p class="quiet none">${text('sources.none')}</p>`}
    ${canChange && html`<${SourceAddition} id=${row.id} done=${done} />`}
    ${
      edited &&
      html`<${Dialog} title=${text('sources.editTitle')} onClose=${() => setEdited(undefined)}>
        <${WordsForm} id=${row.id} source=${edited} onDone=${done} />
      </${Dialog}>`
    }
  </section>`
}

const getName = ({ title, id }: SourceStatus): string => title ?? id

const toUrl = ({ type, id }: SourceStatus): string =>
  type === 'channel' ? `https://www.youtube.com/channel/${id}` : `https://www.youtube.com/playlist?list=${id}`

interface SourceTableProps {
  readonly sources: readonly SourceStatus[]
  readonly canChange: boolean
  edit(source: SourceStatus): void
  remove(source: SourceStatus): void
}

function SourceTable({ sources, canChange, edit, remove }: SourceTableProps) {
  return html`<table>
    <thead>
      <tr>
        <th scope="col">${text('sources.source')}</th>
        <th scope="col" class="number">${text('sources.added')}</th>
        ${canChange && html`<th><span class="hidden">${text('sources.change')}</span></th>`}
      </tr>
    </thead>
    <tbody>
      ${sources.map((source) => {
        const name = getName(source)
        const problem = describeProblem(source)
        return html`<tr key=${source.id}>
          <th scope="row">
            <a class="name" href=${toUrl(source)} target="_blank" rel="noreferrer noopener"><bdi>${name}</bdi></a>
            <span class="quiet below">
              <span>${text(source.type === 'channel' ? 'sources.channel' : 'sources.playlist')}</span>
              <bdi>${describeWords(source.contains)}</bdi>
            </span>
            <span class="quiet below"><${SourceChecks} source=${source} /></span>
            ${problem && html`<span class=${isProblem(source) ? 'problem' : 'quiet below'}>${problem}</span>`}
          </th>
          <td class="number">${formats.count(source.added)}</td>
          ${
            canChange &&
            html`<td class="row-tools">
              <button class="link" aria-label=${text('sources.editOne', { name })} onClick=${() => edit(source)}>
                ${text('sources.edit')}
              </button>
              <button
                class="icon"
                aria-label=${text('sources.removeOne', { name })}
                title=${text('sources.remove')}
                onClick=${() => remove(source)}
              >
                ✕
              </button>
            </td>`
          }
        </tr>`
      })}
    </tbody>
  </table>`
}

function SourceAddition({ id, done }: { id: string; done(): void }) {
  const [link, setLink] = useState('')
  const [words, setWords] = useState('')
  const change = useChange()
  useUnsaved(link !== '')
  async function submit(event: Event) {
    event.preventDefault()
    const contains = parseWords(words)
    if (!(await change.run(() => follow(id, { id: link.trim(), ...(contains && { contains }) })))) return
    setLink('')
    setWords('')
    done()
  }
  return html`<form class="addition" onSubmit=${submit}>
    <input
      name="source"
      autocomplete="off"
      aria-label=${text('sources.link')}
      placeholder=${text('sources.linkShort')}
      value=${link}
      onInput=${onText(setLink)}
    />
    <input
      name="words"
      autocomplete="off"
      aria-label=${text('sources.words')}
      placeholder=${text('sources.wordsShort')}
      value=${words}
      onInput=${onText(setWords)}
    />
    <button disabled=${change.isBusy || link.trim() === ''}>${text('preview.follow')}</button>
    <${ErrorMessage} text=${change.fault} />
  </form>`
}

function WordsForm({ id, source, onDone }: { id: string; source: SourceStatus; onDone(): void }) {
  const before = formatWords(source.contains)
  const [words, setWords] = useState(before)
  const change = useChange()
  useUnsaved(words !== before)
  async function submit(event: Event) {
    event.preventDefault()
    const contains = parseWords(words)
    const isSaved = await change.run(() =>
      changeSources(id, (sources) =>
        sources.map((one) => {
          const { contains: _before, ...rest } = one
          return one.id === source.id ? { ...rest, ...(contains && { contains }) } : one
        }),
      ),
    )
    if (isSaved) onDone()
  }
  return html`<form class="form" onSubmit=${submit}>
    <p>${rich('sources.editNote', { name: html`<b><bdi>${getName(source)}</bdi></b>` })}</p>
    <label
      ><span>${text('sources.words')}</span>
      <input name="contains" autocomplete="off" value=${words} onInput=${onText(setWords)} />
    </label>
    <p class="quiet">${text('sources.wordsNote')}</p>
    <${ErrorMessage} text=${change.fault} />
    <div class="actions"><button class="primary" disabled=${change.isBusy}>${text('form.save')}</button></div>
  </form>`
}
