import { prices } from '@influencer-stats/prices/service'
import { embed } from '@influencer-stats/runtime/embed'
import { ServiceError, toServiceError } from '@influencer-stats/runtime/service-error'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { findChangedFields, toFields, mergeEdit, type CampaignFields } from '../src/page/core/merge-edit.ts'
import { createFormats } from '../src/page/core/format.ts'
import { createMoneyReader, listCurrencies } from '../src/page/core/money.ts'
import { isBlank, getTitle } from '../src/page/core/names.ts'
import { describeRefusal } from '../src/page/core/error-sentences.ts'
import { sendRequest, startStack } from './support/test-stack.ts'

describe('typed money', () => {
  it.each([
    ['en-US', '12500', 12_500],
    ['en-US', '12,500', 12_500],
    ['en-US', '12,500.00', 12_500],
    ['en-US', '12.500,00', 12_500],
    ['en-US', '12,5', 12.5],
    ['en-US', '1.234.567', 1_234_567],
    ['en-US', ' .5 ', 0.5],
    ['en-US', '0.125', 0.125],
    ['en-IN', '12,34,567.5', 1_234_567.5],
    ['de-DE', '12.500,00', 12_500],
    ['de-DE', '12.500', 12_500],
    ['de-DE', '12,5', 12.5],
    ['de-DE', '12.5', 12.5],
    ['fr-FR', '12\u202F500,00', 12_500],
    ['fr-FR', '12 500,00', 12_500],
    ['de-CH', "12'500.50", 12_500.5],
    ['de-CH', '12’500.50', 12_500.5],
    ['ar-EG', '١٢٬٥٠٠٫٥', 12_500.5],
    ['fa-IR', '۱۲۵۰۰', 12_500],
    ['en-US', '', null],
    ['en-US', '  ', null],
  ])('%s: "%s" is %s', (locale, text, value) => {
    expect(createMoneyReader(locale).parse(text)).toEqual({ value })
  })

  it.each([
    ['en-US', '12.500', 'This could be 12.5 or 12,500: write 12.50 or 12500.'],
    ['de-DE', '12,500', 'This could be 12,5 or 12.500: write 12,50 or 12500.'],
    ['en-US', '1.234', 'This could be 1.234 or 1,234: write 1.2340 or 1234.'],
    ['en-US', '1.2,3.4', 'Write the cost as a number, such as 12,500.5.'],
    ['en-US', '12,50,0', 'Write the cost as a number, such as 12,500.5.'],
    ['en-US', '$12', 'Write the cost as a number, such as 12,500.5.'],
    ['en-US', '1e3', 'Write the cost as a number, such as 12,500.5.'],
    ['en-US', ',', 'Write the cost as a number, such as 12,500.5.'],
    ['en-US', '-5', 'Write a cost of 0 or more.'],
    ['en-US', '2000000000000000', 'Write a cost of at most 1,000,000,000,000,000.'],
    ['en-US', '123456789012.3456', 'Write a cost with at most 15 digits.'],
  ])('%s: "%s" is refused: %s', (locale, text, fault) => {
    expect(createMoneyReader(locale).parse(text)).toEqual({ fault })
  })

  it('suggests texts that it accepts', () => {
    for (const [locale, text] of [
      ['en-US', '12.500'],
      ['de-DE', '1,234'],
    ] as const) {
      const reader = createMoneyReader(locale)
      const [, small, large] = /write (\S+) or (\S+)\.$/.exec(reader.parse(text).fault!)!
      const digits = text.replace(/\D/g, '')
      expect(reader.parse(small!)).toEqual({ value: Number(digits) / 1_000 })
      expect(reader.parse(large!)).toEqual({ value: Number(digits) })
    }
  })

  it('equals the formatted number in every locale, unless it is ambiguous', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('en-US', 'en-IN', 'de-DE', 'de-CH', 'fr-FR', 'pl-PL', 'ar-EG', 'hi-IN-u-nu-deva'),
        fc.integer({ min: 0, max: 1e12 }),
        (locale, cents) => {
          const reader = createMoneyReader(locale)
          expect(reader.parse(reader.format(cents / 100))).toEqual({ value: cents / 100 })
        },
      ),
    )
  })

  it('is shown with all its digits', () => {
    const english = createFormats('en-US')
    expect(english.amount(12_500.125, 'EUR')).toBe('€12,500.125')
    expect(english.amount(1_234.5, 'JPY')).toBe('¥1,234.5')
    expect(english.amount(12_500)).toBe('12,500')
    expect(createFormats('de-DE').amount(12_500, 'EUR')).toBe('12.500,00\u00A0€')
  })

  it('has currencies with their names, and the stored one', () => {
    const options = listCurrencies('en-US', 'QQQ')
    expect(options).toContainEqual({ code: 'EUR', title: 'EUR – Euro' })
    expect(options).toContainEqual({ code: 'QQQ', title: 'QQQ' })
    expect(listCurrencies('de-DE')).toContainEqual({ code: 'USD', title: 'USD – US-Dollar' })
  })
})

it.each(['America/New_York', 'UTC', 'Pacific/Kiritimati'])('a day is the same day in %s', (timeZone) => {
  expect(createFormats('en-US', timeZone).date('2026-03-01')).toBe('Mar 1, 2026')
})

describe('names', () => {
  it('that are invisible are replaced by the id', () => {
    for (const name of ['', ' ', '\u200B\u2060', '\u3164', '\u2800\uFE0F', '\u202E'])
      expect(getTitle({ id: 'a', name })).toBe('a')
    expect(getTitle({ id: 'a' })).toBe('a')
    for (const name of ['x', ' é', '👩‍👩‍👧', 'אב', '-']) expect(getTitle({ id: 'a', name })).toBe(name)
    expect(isBlank('\u{1FAE9}')).toBe(false)
  })
})

describe('edits of two people', () => {
  const base: CampaignFields = toFields({
    id: 'a',
    version: '1',
    videos: [],
    name: 'Spring',
    cost: 100,
    currency: 'EUR',
  })

  it('change only what each changed', () => {
    expect(findChangedFields(base, { ...base, name: 'Summer', tags: ['a'] })).toEqual({ name: 'Summer', tags: ['a'] })
    expect(findChangedFields(base, { ...base, tags: [] })).toEqual({})
    const remote = { ...base, cost: 2_500 }
    expect(mergeEdit(base, { ...base, name: 'Summer' }, remote)).toEqual({
      merged: { ...remote, name: 'Summer' },
      conflicts: [],
    })
  })

  it('conflict where both changed the same field differently, and an amount belongs to its currency', () => {
    const same = { ...base, name: 'Summer' }
    expect(mergeEdit(base, same, same)).toEqual({ merged: same, conflicts: [] })
    const remote = { ...base, name: 'Autumn' }
    expect(mergeEdit(base, same, remote)).toEqual({ merged: same, conflicts: ['name'] })
    expect(mergeEdit(base, { ...base, cost: 200 }, { ...base, currency: 'USD' })).toEqual({
      merged: { ...base, cost: 200 },
      conflicts: ['cost'],
    })
  })
})

describe('refusals', () => {
  const RAW = /must (NOT|be|match|have)|body\/|params|querystring|schema|pattern|property|undefined|null|raw/
  /** Codes of requests that pages never send. */
  const NOT_OF_PAGES =
    /^(IMPORT_(LINE|NOT)|TOO_MANY_BACKUPS|NO_DATA|CONTENT_|CONDITION_(INV|UNS)|HOST_|TRANSFER_|UNSUPPORTED_)/

  /** The codes that a service documents, with their status. */
  async function listCodes(url: string): Promise<[string, number][]> {
    const { body } = await sendRequest(`${url}/openapi.json`)
    const routes = Object.values(body.paths).flatMap((path) => Object.values(path as object))
    const replies = routes.flatMap(({ responses = {} }) => Object.entries(responses as object))
    return replies.flatMap(([status, { description = '' }]) =>
      [...description.matchAll(/`([A-Z_]{3,})`/g)].map(([, code]): [string, number] => [code, Number(status)]),
    )
  }

  it('that services document are sentences without the message of the service', async () => {
    const { url, statsUrl } = await startStack()
    const { url: pricesUrl, stop } = await embed(prices, { data: createTemporaryFolder(), sample: 'no' })
    onTestFinished(async () => void (await stop()))
    const own = [...(await listCodes(url)), ...(await listCodes(statsUrl))]
    expect(own.length).toBeGreaterThan(20)
    for (const [code, status] of [...own, ...(await listCodes(pricesUrl))]) {
      const error = new ServiceError(status, code, 'raw message', 'body/x must NOT have raw detail')
      const sentence = describeRefusal(error)
      expect(sentence).toMatch(/^[A-Z1].{10,}\.$/)
      expect(sentence).not.toMatch(RAW)
    }
    const codes = new Map(own.filter(([code]) => !NOT_OF_PAGES.test(code)))
    for (const [code, status] of codes) expect(describeRefusal(new ServiceError(status, code))).not.toContain(code)
  })

  it('of real requests state the required change', async () => {
    const { url } = await startStack()
    const campaign = `${url}/api/stats/collections/a`
    const VIDEO = '1FEFpk-uIYo'
    await sendRequest(campaign, 'PUT', { body: { videos: [VIDEO] } })
    const refusals: [string, string, object | undefined, string][] = [
      [campaign, 'PATCH', { name: 'x'.repeat(201) }, 'Use a name of 1 to 200 visible characters.'],
      [campaign, 'PATCH', { name: '' }, 'Use a name of 1 to 200 visible characters.'],
      [campaign, 'PATCH', { tags: ['x'.repeat(51)] }, 'at most 50 characters each'],
      [campaign, 'PATCH', { tags: Array.from({ length: 51 }, (_, i) => `${i}`) }, 'Use at most 50 tags'],
      [campaign, 'PATCH', { from: 'May' }, 'Choose a first day'],
      [campaign, 'PATCH', { to: '2026-02-30' }, 'Choose a last day'],
      [campaign, 'PATCH', { from: '2026-03-02', to: '2026-03-01' }, 'Choose a last day'],
      [campaign, 'PATCH', { cost: -1 }, 'Write the cost as a number from 0'],
      [campaign, 'PATCH', { cost: 1e16 }, 'Write the cost as a number from 0'],
      [campaign, 'PATCH', { currency: 'nope' }, 'Choose a currency'],
      [campaign, 'PATCH', { videos: ['nonsense'] }, 'Correct or remove it: nonsense'],
      [campaign, 'PATCH', { videos: Array.from({ length: 1_001 }, () => VIDEO) }, 'Use fewer links.'],
      [campaign, 'PATCH', { unknown: 1 }, 'does not accept this input'],
      [campaign, 'PATCH', undefined, 'does not accept this input'],
      [`${campaign}/videos/nonsense`, 'PUT', undefined, 'Correct or remove it: nonsense'],
      [`${url}/api/stats/collections/a%20b`, 'PUT', { videos: [] }, 'This is not the address of a campaign.'],
      [`${url}/api/stats/collections?sort=x`, 'GET', undefined, 'Remove it from the address.'],
      [`${url}/api/stats/collections/none`, 'GET', undefined, 'There is no such campaign.'],
      [`${url}/links`, 'POST', { campaign: 'a', days: 1_000 }, '1 to 365'],
      [`${url}/session`, 'POST', { token: 1 }, 'Enter a token.'],
    ]
    for (const [path, method, body, sentence] of refusals) {
      const { status, text } = await sendRequest(path, method, body && { body })
      expect([path, body, status >= 400]).toEqual([path, body, true])
      const said = describeRefusal(toServiceError(status, text))
      expect(said).toContain(sentence)
      expect(said).not.toMatch(RAW)
    }
  })
})
