import { ServiceError } from '@influencer-stats/runtime/service-error'
import type { CollectionRow } from '@influencer-stats/stats/client'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { stats } from '../../api.ts'
import { findChangedFields, toFields, mergeEdit, type CampaignFields, type FieldName } from '../../core/merge-edit.ts'
import { createMoneyReader, listCurrencies, type TypedAmount } from '../../core/money.ts'
import { parseTags } from '../../core/campaign-input.ts'
import { useChange } from '../../hooks.ts'
import { html, onText } from '../../html.ts'
import { ErrorMessage, useUnsaved } from '../../parts/dialog.ts'
import { formats } from '../../page-state.ts'
import { choice } from '../../texts/language.ts'
import { rich, text } from '../../texts/texts.ts'
import { getCost } from '../results/campaign-cards.ts'
import { discardEdit, drafts, type FormBase, type FormTexts } from './edit-drafts.ts'

/** Maximum attempts to save. An attempt fails if another user changed the campaign since the last read. */
const MAX_ATTEMPTS = 5

const money = createMoneyReader(choice.locales)

const toTexts = ({ name, tags, from, to, cost, currency }: CampaignFields): FormTexts => ({
  name: name ?? '',
  tags: tags.join(', '),
  from: from ?? '',
  to: to ?? '',
  cost: cost === null ? '' : money.format(cost),
  currency: currency ?? '',
})

const toNullable = (typed: string) => typed.trim() || null

/** Converts texts to fields. An unchanged text gives the unchanged field, which the text may show only in part. */
function readTexts(texts: FormTexts, base: CampaignFields): { fields: CampaignFields; costFault: string | undefined } {
  const before = toTexts(base)
  const isChanged = (name: FieldName) => texts[name] !== before[name]
  const cost: TypedAmount = isChanged('cost') ? money.parse(texts.cost) : { value: base.cost }
  const fields = {
    name: isChanged('name') ? toNullable(texts.name) : base.name,
    tags: isChanged('tags') ? parseTags(texts.tags) : base.tags,
    from: toNullable(texts.from),
    to: toNullable(texts.to),
    cost: cost.value ?? null,
    currency: toNullable(texts.currency),
  }
  return { fields, costFault: cost.fault }
}

const isConflict = (error: unknown) => error instanceof ServiceError && error.code === 'CONDITION_FAILED'
const createNotFoundError = () => new ServiceError(404, 'COLLECTION_NOT_FOUND')

/**
 * Edits a campaign. It sends only changed fields. It shows a conflict if another user gave the same field another value;
 * cost and currency count as one field.
 */
export function CampaignForm({ row, onDone }: { row: CollectionRow; onDone(): void }) {
  const change = useChange()
  const [base, setBase] = useState<FormBase>(
    () => drafts.get(row.id)?.base ?? { fields: toFields(row), version: row.version },
  )
  const [texts, setTexts] = useState(() => drafts.get(row.id)?.texts ?? toTexts(base.fields))
  const [conflicts, setConflicts] = useState<readonly FieldName[]>([])
  const costInput = useRef<HTMLInputElement>(null)
  const currencies = useMemo(() => listCurrencies(choice.locales, row.currency), [row.currency])
  const { fields, costFault } = readTexts(texts, base.fields)
  const isUnsaved = costFault !== undefined || Object.keys(findChangedFields(base.fields, fields)).length > 0
  useUnsaved(isUnsaved)
  useLayoutEffect(() => {
    if (isUnsaved) drafts.set(row.id, { base, texts })
    else drafts.delete(row.id)
  }, [isUnsaved, base, texts])

  /** @returns true if the changes are saved, false if there are conflicts */
  async function save(): Promise<boolean> {
    let [from, local] = [base, fields]
    for (let attempt = 1; ; attempt++) {
      const patch = findChangedFields(from.fields, local)
      if (Object.keys(patch).length === 0) return true
      try {
        if (!(await stats.patch(row.id, patch, { ifVersion: from.version }))) throw createNotFoundError()
        return true
      } catch (error) {
        if (!isConflict(error) || attempt === MAX_ATTEMPTS) throw error
      }
      const newer = await stats.get(row.id)
      if (!newer) throw createNotFoundError()
      const remote = toFields(newer)
      const merge = mergeEdit(from.fields, local, remote)
      const localOnly = findChangedFields(remote, merge.merged)
      const newTexts = toTexts(remote)
      const pick = (name: FieldName) => (name in localOnly ? texts[name] : newTexts[name])
      const names = Object.keys(texts) as FieldName[]
      from = { fields: remote, version: newer.version }
      local = merge.merged
      setBase(from)
      setTexts(Object.fromEntries(names.map((name) => [name, pick(name)])) as FormTexts)
      setConflicts(merge.conflicts)
      if (merge.conflicts.length > 0) return false
    }
  }
  async function submit(event: SubmitEvent) {
    event.preventDefault()
    if (costFault !== undefined) return costInput.current!.focus()
    let isSaved = false
    if ((await change.run(async () => (isSaved = await save()))) && isSaved) {
      discardEdit(row.id)
      onDone()
    }
  }

  const set = (changed: Partial<FormTexts>) => setTexts((before) => ({ ...before, ...changed }))
  const bind = (name: FieldName) => ({ name, value: texts[name], onInput: onText((typed) => set({ [name]: typed })) })
  /** @param remoteValue the value of the other user, to show @param remote the texts that replace those of the form */
  const conflict = (name: FieldName, remoteValue: ComponentChildren, remote: Partial<FormTexts>) =>
    conflicts.includes(name) &&
    html`<${Conflict}
      remoteValue=${remoteValue}
      onAccept=${() => {
        set(remote)
        setConflicts((before) => before.filter((one) => one !== name))
      }}
    />`
  const remoteTexts = toTexts(base.fields)
  const amount = (value: number | null, currency: string | null) =>
    value === null ? text('form.none') : formats.amount(value, currency ?? undefined)
  const day = (date: string | null) => (date === null ? text('form.none') : formats.date(date))

  const feesNote = row.fees ? text('form.costIsFees', { amount: formats.amount(getCost(row)!, row.currency) }) : ''

  return html`<form class="form" onSubmit=${submit}>
    <label>${text('form.name')} <input ...${bind('name')} /></label>
    ${conflict('name', remoteTexts.name || text('form.none'), { name: remoteTexts.name })}
    <label
      ><span>${text('form.tags')} <span class="quiet">${text('form.tagsNote')}</span></span>
      <input ...${bind('tags')} />
    </label>
    ${conflict('tags', remoteTexts.tags || text('form.none'), { tags: remoteTexts.tags })}
    <div class="pair">
      <label>${text('form.from')} <input type="date" ...${bind('from')} /></label>
      <label>${text('form.to')} <input type="date" ...${bind('to')} /></label>
    </div>
    ${conflict('from', day(base.fields.from), { from: remoteTexts.from })}
    ${conflict('to', day(base.fields.to), { to: remoteTexts.to })}
    <div class="pair">
      <label
        >${text('form.cost')}
        <input
          inputmode="decimal"
          autocomplete="off"
          ref=${costInput}
          aria-invalid=${costFault !== undefined}
          aria-describedby="cost-preview"
          ...${bind('cost')}
        />
      </label>
      <label
        >${text('form.currency')}
        <select ...${bind('currency')}>
          <option value="">${text('form.noCurrency')}</option>
          ${currencies.map(({ code, title }) => html`<option key=${code} value=${code}>${title}</option>`)}
        </select>
      </label>
    </div>
    <p id="cost-preview" class=${costFault === undefined ? 'quiet' : 'fault'} role="status">
      ${costFault ?? (fields.cost === null ? feesNote : `= ${amount(fields.cost, fields.currency)}`)}
    </p>
    ${conflict('cost', amount(base.fields.cost, base.fields.currency), { cost: remoteTexts.cost, currency: remoteTexts.currency })}
    <${ErrorMessage} text=${change.fault} />
    <div class="actions">
      <button class="primary" disabled=${change.isBusy}>
        ${text(conflicts.length > 0 ? 'form.saveMine' : 'form.save')}
      </button>
    </div>
  </form>`
}

function Conflict({ remoteValue, onAccept }: { remoteValue: ComponentChildren; onAccept(): void }) {
  return html`<p class="conflict" role="alert">
    <span>${rich('form.conflict', { value: html`<bdi>${remoteValue}</bdi>` })}</span>
    <button type="button" onClick=${onAccept}>${text('form.useTheirs')}</button>
  </p>`
}
