import { ServiceError } from '@influencer-stats/runtime/service-error'
import type { CampaignCreator, CollectionRow } from '@influencer-stats/stats/client'
import { useMemo, useState } from 'preact/hooks'
import { stats } from '../../api.ts'
import { createMoneyReader, listCurrencies } from '../../core/money.ts'
import { useChange } from '../../hooks.ts'
import { html, onText } from '../../html.ts'
import { ErrorMessage, useUnsaved } from '../../parts/dialog.ts'
import { Tabs } from '../../parts/tabs.ts'
import { choice } from '../../texts/language.ts'
import { text } from '../../texts/texts.ts'
import { getCreatorName } from './creator-name.ts'

const money = createMoneyReader(choice.locales)
const format = (amount: number | undefined) => (amount === undefined ? '' : money.format(amount))

interface FeeRow {
  readonly creator: string
  readonly name: string
  readonly typed: string
}

interface FeeFormProps {
  readonly row: CollectionRow
  readonly creators: readonly CampaignCreator[]
  onDone(): void
}

/** Edits the cost of a campaign: one for all, or a fee for each creator. */
export function FeeForm({ row, creators, onDone }: FeeFormProps) {
  const [version, setVersion] = useState(row.version)
  const [kind, setKind] = useState(row.cost === undefined ? 'fees' : 'cost')
  const [cost, setCost] = useState(format(row.cost))
  const [currency, setCurrency] = useState(row.currency ?? '')
  const initialRows = useMemo(
    () => creators.map((one): FeeRow => ({ creator: one.id, name: getCreatorName(one), typed: format(one.fee) })),
    [],
  )
  const [rows, setRows] = useState<readonly FeeRow[]>(initialRows)
  const [person, setPerson] = useState('')
  const [fault, setFault] = useState<string | undefined>()
  const change = useChange()
  const currencies = useMemo(() => listCurrencies(choice.locales, row.currency), [row.currency])
  useUnsaved(rows !== initialRows || cost !== format(row.cost) || currency !== (row.currency ?? ''))

  const setFee = (creator: string, typed: string) =>
    setRows((before) => before.map((one) => (one.creator === creator ? { ...one, typed } : one)))

  function addPerson(): void {
    const name = person.trim()
    if (!name) return
    if (rows.some((one) => one.creator === name)) return setFault(text('fees.twice', { name }))
    setFault(undefined)
    setRows((before) => [...before, { creator: name, name, typed: '' }])
    setPerson('')
  }

  /** Returns the changed fields; undefined if an amount is not readable. */
  function readPatch() {
    const unit = { currency: currency || null }
    if (kind === 'cost') {
      const read = money.parse(cost)
      if (read.fault !== undefined) return setFault(read.fault)
      return { cost: read.value, fees: null, ...unit }
    }
    const fees = []
    for (const { creator, typed } of rows) {
      const read = money.parse(typed)
      if (read.fault !== undefined) return setFault(read.fault)
      if (read.value !== null) fees.push({ creator, amount: read.value })
    }
    return { cost: null, fees: fees.length > 0 ? fees : null, ...unit }
  }

  async function submit(event: SubmitEvent) {
    event.preventDefault()
    setFault(undefined)
    const patch = readPatch()
    if (!patch) return
    let isOutdated = false
    const isSaved = await change.run(async () => {
      const condition = { ifVersion: version }
      const saved = await stats.patch(row.id, patch, condition).catch((error: unknown) => {
        if (!(error instanceof ServiceError) || error.code !== 'CONDITION_FAILED') throw error
        isOutdated = true
        return stats.get(row.id)
      })
      if (!saved) throw new ServiceError(404, 'COLLECTION_NOT_FOUND')
      setVersion(saved.version)
    })
    if (isOutdated) setFault(text('fees.changed'))
    else if (isSaved) onDone()
  }

  const renderAmount = (label: string, name: string, value: string, onChange: (typed: string) => void) =>
    html`<label key=${name}
      ><bdi>${label}</bdi><input name=${name} inputmode="decimal" value=${value} onInput=${onText(onChange)}
    /></label>`

  return html`<form class="form" onSubmit=${submit}>
    <${Tabs}
      label=${text('fees.kind')}
      options=${[
        ['fees', text('fees.perCreator')],
        ['cost', text('fees.oneCost')],
      ]}
      value=${kind}
      onChange=${setKind}
    />
    ${kind === 'cost' && renderAmount(text('fees.cost'), 'cost', cost, setCost)}
    ${
      kind === 'fees' &&
      html`<div class="fees">
          ${rows.map(({ creator, name, typed }) => renderAmount(text('fees.feeOf', { name }), `fee:${creator}`, typed, (next) => setFee(creator, next)))}
        </div>
        <div class="inline">
          <input
            name="person"
            aria-label=${text('fees.person')}
            placeholder=${text('fees.person')}
            maxlength="200"
            value=${person}
            onInput=${onText(setPerson)}
          />
          <button type="button" disabled=${!person.trim()} onClick=${addPerson}>${text('fees.add')}</button>
        </div>`
    }
    <label
      >${text('form.currency')}
      <select name="currency" onChange=${onText(setCurrency)}>
        <option value="" selected=${currency === ''}>${text('form.noCurrency')}</option>
        ${currencies.map(({ code, title }) => html`<option key=${code} value=${code} selected=${code === currency}>${title}</option>`)}
      </select>
    </label>
    <${ErrorMessage} text=${fault ?? change.fault} />
    <div class="actions"><button class="primary" disabled=${change.isBusy}>${text('fees.save')}</button></div>
  </form>`
}
