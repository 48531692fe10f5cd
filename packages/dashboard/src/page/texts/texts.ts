import type { texts as english } from './en.ts'
import { choice, type Language } from './language.ts'
import type { PluralText, TagNames, Texts, Translation, ValueNames } from './text-types.ts'

type EnglishTexts = typeof english
export type TextKey = keyof EnglishTexts

/** The files of the languages. A page loads only its own. */
const CATALOGS: Readonly<Record<Language, () => Promise<{ readonly texts: Translation<EnglishTexts> }>>> = {
  en: () => import('./en.ts'),
  de: () => import('./de.ts'),
}

// The texts are there before any module that imports this one runs, so constants of modules may use them.
const catalog: Texts = (await CATALOGS[choice.language]()).texts

const rules = new Intl.PluralRules(choice.language)
const count = new Intl.NumberFormat(choice.locales as string[] | undefined)

const formatValue = (value: unknown) => (typeof value === 'number' ? count.format(value) : value)
const selectForm = (text: PluralText, number: number) => text[rules.select(number)] ?? text.other

type Values<K extends TextKey, V> = Readonly<Record<ValueNames<EnglishTexts[K]>, V>>
/** The values are an argument only if the text has some. A text with elements is for `rich`. */
type TextArguments<K extends TextKey> = [TagNames<EnglishTexts[K]>] extends [never]
  ? [ValueNames<EnglishTexts[K]>] extends [never]
    ? []
    : [values: Values<K, string | number> & CountValue<K>]
  : [never]
type CountValue<K extends TextKey> = EnglishTexts[K] extends string ? unknown : { readonly count: number }

const PLACEHOLDERS = /\{(\w+)\}|<(\w+)>(.*?)<\/\2>/g

function findForm(key: string, values: Readonly<Record<string, unknown>>): string {
  const found = catalog[key]!
  return typeof found === 'string' ? found : selectForm(found, values.count as number)
}

/**
 * A text in the language of the page. Numbers among the values are written as the reader writes them.
 * @param values a value for each `{name}`; `count` selects the plural form
 */
export function text<K extends TextKey>(key: K, ...given: TextArguments<K>): string {
  const [values = {}] = given as [Readonly<Record<string, unknown>>?]
  return findForm(key, values).replace(PLACEHOLDERS, (_all, name: string) => String(formatValue(values[name])))
}

/**
 * A text that contains elements, as the children of an element.
 * @param values a text, a number or an element for each `{name}`, and for each `<name>words</name>` a function that makes
 * the element from these words
 */
export function rich<K extends TextKey, V>(
  key: K,
  values: Values<K, string | number | V> &
    CountValue<K> &
    Readonly<Record<TagNames<EnglishTexts[K]>, (words: string) => V>>,
): (string | V)[] {
  const known: Readonly<Record<string, unknown>> = values
  const form = findForm(key, known)
  const parts: unknown[] = []
  let end = 0
  for (const { 0: all, 1: name, 2: tag, 3: words, index } of form.matchAll(PLACEHOLDERS)) {
    parts.push(form.slice(end, index))
    parts.push(name === undefined ? (known[tag!] as (words: string) => V)(words!) : formatValue(known[name]))
    end = index + all.length
  }
  return [...parts, form.slice(end)].filter((part) => part !== '') as (string | V)[]
}

/** A text without values by a key that may not exist, such as that of an error code. */
export function findText(key: string): string | undefined {
  const found = Object.hasOwn(catalog, key) ? catalog[key] : undefined
  return typeof found === 'string' ? found : undefined
}
