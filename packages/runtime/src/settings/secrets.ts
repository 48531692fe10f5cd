import type { AnyService } from '../service.ts'
import { settingsOf } from './config.ts'

/** What stands in a log where a secret would. */
const HIDDEN = '[secret]'
/**
 * A shorter secret may be a part of any word: it is taken out where it stands by itself, and is no name of a field, or no line
 * could be read. (Who can guess it needs no log.)
 */
const SHORT = 8

/** The values of a service's secret settings, but for defaults, which everybody knows. */
export function secretsOf(definition: Pick<AnyService, 'settings'>, config: Record<string, unknown>): string[] {
  return Object.entries(settingsOf(definition)).flatMap(([name, { secret, default: common }]) => {
    if (!secret) return []
    const known = new Set<unknown>([common].flat())
    const values = [config[name]].flat().filter((value) => typeof value === 'string')
    // A file may contain one secret per line.
    return [...new Set(values.flatMap((value) => [value, ...value.split(/\s*\n\s*/)]))].filter(
      (value) => !known.has(value),
    )
  })
}

interface Hiding {
  /** Texts. */
  (text: string): string
  /** The name of a field. */
  field(text: string): string
}

/**
 * Takes secrets out of text: as they are, as URLs have them, and as JSON has them. Whatever is logged passes here, because
 * faults of others carry what they were given, in words, in fields and in causes.
 */
export function hiding(secrets: readonly string[]): Hiding {
  const known = secrets.filter(Boolean).map((secret) => secret.toWellFormed())
  const long = patternsOf(known.filter(({ length }) => length >= SHORT))
  const short = patternsOf(known.filter(({ length }) => length < SHORT)).map(
    (pattern) => `(?<![\\p{L}\\p{N}_])${pattern}(?![\\p{L}\\p{N}_])`,
  )
  const replacing = (patterns: readonly string[]) => {
    if (patterns.length === 0) return (text: string) => text
    const pattern = new RegExp(patterns.join('|'), 'gu')
    return (text: string) => text.replace(pattern, HIDDEN)
  }
  return Object.assign(replacing([...long, ...short]), { field: replacing(long) })
}

/** All forms of secrets, the longest first. */
function patternsOf(secrets: readonly string[]): string[] {
  const forms = secrets.flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    encodeURI(secret),
    new URLSearchParams({ '': secret }).toString().slice(1),
  ])
  const all = [...new Set([...forms, ...forms.map(inJson)])].toSorted((a, b) => b.length - a.length)
  return all.map((form) => RegExp.escape(form))
}

const inJson = (text: string) => JSON.stringify(text).slice(1, -1)

const STRINGS = /"((?:[^"\\]|\\.)*)"(:)?/g

/** The same for a line of JSON, which stays JSON: a secret of digits may look like a part of a number. */
export function hidingInJson(secrets: readonly string[]): (line: string) => string {
  const hide = hiding(secrets)
  const hideIn = (_: string, text: string, colon = '') => `"${colon ? hide.field(text) : hide(text)}"${colon}`
  // Most lines have none: then nothing is taken apart.
  return (line) => (hide(line) === line ? line : line.replace(STRINGS, hideIn))
}
