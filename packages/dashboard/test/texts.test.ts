import { describe, expect, it } from 'vitest'
import { texts as german } from '../src/page/texts/de.ts'
import { texts as english } from '../src/page/texts/en.ts'
import { chooseLanguage } from '../src/page/texts/language.ts'
import type { PluralText } from '../src/page/texts/text-types.ts'
import { findText, rich, text, type TextKey } from '../src/page/texts/texts.ts'

/** The names of the values and elements of a text, of all its plural forms together. */
function listNames(found: string | PluralText): string[] {
  const forms = typeof found === 'string' ? found : Object.values(found).join(' ')
  return [...new Set(forms.match(/\{\w+\}|<\/?\w+>/g))].toSorted()
}

const keys = Object.keys(english) as TextKey[]

describe('the texts', () => {
  it('have the same keys, values and elements in each language', () => {
    expect(Object.keys(german).toSorted()).toEqual(keys.toSorted())
    for (const key of keys) expect([key, listNames(german[key])]).toEqual([key, listNames(english[key])])
  })

  it('have a form for each plural of their language', () => {
    for (const [language, texts] of Object.entries({ en: english, de: german })) {
      const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions()
      const plurals = Object.values<string | PluralText>(texts).filter((found) => typeof found !== 'string')
      for (const found of plurals) expect(Object.keys(found).toSorted()).toEqual(pluralCategories.toSorted())
    }
  })

  it('contain values, select their plural form, and write numbers as the reader does', () => {
    expect(text('links.linkTo', { name: 'a {name} <b>b</b> $&' })).toBe('Link to a {name} <b>b</b> $&')
    expect([0, 1, 1_234].map((count) => text('share.days', { count }))).toEqual(['0 days', '1 day', '1,234 days'])
    expect(findText('share.days')).toBeUndefined()
    expect(findText('toString')).toBeUndefined()
  })

  it('contain elements', () => {
    const element = { type: 'element' }
    expect(rich('frame.numbersAsOf', { time: element })).toEqual(['Numbers are as of ', element, '.'])
    expect(rich('frame.standIn', { b: (words) => [words] })).toEqual([
      ['Invented numbers.'],
      ' They come from a stand-in for YouTube on this machine, so no API key is needed.',
    ])
  })
})

describe('the language', () => {
  it.each([
    [null, ['de-AT', 'en-US'], 'de', ['de-AT', 'de']],
    [null, ['en-GB', 'de'], 'en', ['en-GB', 'en']],
    [null, ['fr-FR', 'de-CH', 'en'], 'de', ['fr-FR', 'de-CH', 'en']],
    [null, ['fr'], 'en', ['fr']],
    [null, [], 'en', []],
    ['de', ['en-US'], 'de', ['de']],
    ['en', ['de-DE', 'en-GB'], 'en', ['en-GB', 'en']],
    ['toString', ['DE'], 'de', ['DE', 'de']],
  ] as const)('stored %s, of the browser %j: %s', (stored, preferred, language, locales) => {
    expect(chooseLanguage(stored, preferred)).toEqual({ language, locales })
  })
})
