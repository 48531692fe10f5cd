/** The languages of the page, each by its own name. A language is a file in this folder. */
export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const

export type Language = keyof typeof LANGUAGES

const STORAGE_KEY = 'language'

export const isLanguage = (text: string | null | undefined): text is Language =>
  text !== null && text !== undefined && Object.hasOwn(LANGUAGES, text)

/** The language of a locale: `de` of `de-AT`. */
const getBase = (locale: string) => locale.toLowerCase().split('-')[0]!

/** What the reader sees: texts of one language, and numbers and dates of one locale. */
export interface LanguageChoice {
  readonly language: Language
  /** Locales for `Intl`, the best first. Undefined for the default of the platform. */
  readonly locales: readonly string[] | undefined
}

/**
 * Selects the language of the texts: the stored one, otherwise the first of the reader's that the page has, otherwise
 * English. The formats of numbers and dates belong to this language and to the reader's region. If the page does not have
 * the reader's own language, they stay those of the reader.
 */
export function chooseLanguage(stored: string | null | undefined, preferred: readonly string[]): LanguageChoice {
  const language = isLanguage(stored) ? stored : (preferred.map(getBase).find(isLanguage) ?? 'en')
  const isOwn = isLanguage(stored) || getBase(preferred[0] ?? '') === language
  return { language, locales: isOwn ? [...preferred.filter((one) => getBase(one) === language), language] : preferred }
}

/** The parts of a browser that this module needs. Node, in which tests import the core, has no document. */
interface BrowserGlobals {
  readonly document?: { readonly documentElement: { lang: string } }
  readonly localStorage: { getItem(key: string): string | null; setItem(key: string, value: string): void }
  readonly navigator: { readonly languages: readonly string[] }
  readonly location: { reload(): void }
}

const browser = globalThis as unknown as BrowserGlobals

/** The stored choice. A browser can forbid the storage: then there is none. */
function readStored(): string | null {
  try {
    return browser.localStorage.getItem(STORAGE_KEY)
  } catch {
    return null
  }
}

/** The choice for this page. It does not change until the page is loaded again. Outside a browser it is English. */
export const choice: LanguageChoice = browser.document
  ? chooseLanguage(readStored(), browser.navigator.languages)
  : { language: 'en', locales: undefined }

if (browser.document) browser.document.documentElement.lang = choice.language

/** Stores a language and loads the page again in it: the address and its state remain. */
export function changeLanguage(language: Language): void {
  try {
    browser.localStorage.setItem(STORAGE_KEY, language)
  } catch {
    // Without a storage the page stays in the language of the browser.
  }
  browser.location.reload()
}
