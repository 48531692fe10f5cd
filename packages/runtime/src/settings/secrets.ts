import type { ConfigurableService } from './settings.ts'
import { getSettings } from './resolve-config.ts'

/** Replaces a secret in a log. */
const SECRET_PLACEHOLDER = '[secret]'
/**
 * Length of a long secret (characters). A shorter secret may be a part of any word. It is replaced only as a whole
 * word, and not in the name of a field: otherwise no line would be readable. (A secret that short can be guessed
 * without a log.)
 */
const MIN_LONG_SECRET_LENGTH = 8

/** Returns the values of a service's secret settings, except for defaults, which are public. */
export function getSecrets(
  definition: Pick<ConfigurableService, 'settings'>,
  config: Record<string, unknown>,
): string[] {
  return Object.entries(getSettings(definition)).flatMap(([name, { secret, default: defaultValue }]) => {
    if (!secret) return []
    const publicValues = new Set<unknown>([defaultValue].flat())
    const values = [config[name]].flat().filter((value) => typeof value === 'string')
    // A file may contain one secret per line.
    return [...new Set(values.flatMap((value) => [value, ...value.split(/\s*\n\s*/)]))].filter(
      (value) => !publicValues.has(value),
    )
  })
}

interface Redactor {
  /** Redacts a text. */
  (text: string): string
  /** Redacts the name of a field. */
  field(text: string): string
}

/**
 * Creates a function that replaces secrets in a text, also in the forms that they have in URLs and in JSON. All log
 * lines pass through it. Errors of a library may contain secrets that the library received, in messages, fields and
 * causes.
 */
export function createRedactor(secrets: readonly string[]): Redactor {
  const known = secrets.filter(Boolean).map((secret) => secret.toWellFormed())
  const long = toPatterns(known.filter(({ length }) => length >= MIN_LONG_SECRET_LENGTH))
  const short = toPatterns(known.filter(({ length }) => length < MIN_LONG_SECRET_LENGTH)).map(
    (pattern) => `(?<![\\p{L}\\p{N}_])${pattern}(?![\\p{L}\\p{N}_])`,
  )
  const createReplacer = (patterns: readonly string[]) => {
    if (patterns.length === 0) return (text: string) => text
    const pattern = new RegExp(patterns.join('|'), 'gu')
    return (text: string) => text.replace(pattern, SECRET_PLACEHOLDER)
  }
  return Object.assign(createReplacer([...long, ...short]), { field: createReplacer(long) })
}

/** Returns patterns for all forms of the secrets, the longest first. */
function toPatterns(secrets: readonly string[]): string[] {
  const forms = secrets.flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    encodeURI(secret),
    new URLSearchParams({ '': secret }).toString().slice(1),
  ])
  const all = [...new Set([...forms, ...forms.map(escapeJson)])].toSorted((a, b) => b.length - a.length)
  return all.map((form) => RegExp.escape(form))
}

const escapeJson = (text: string) => JSON.stringify(text).slice(1, -1)

const JSON_STRING = /"((?:[^"\\]|\\.)*)"(:)?/g

/**
 * Like `createRedactor`, for a line of JSON. Only strings are changed, so that the line remains JSON: a secret of
 * digits may equal a part of a number.
 */
export function createJsonRedactor(secrets: readonly string[]): (line: string) => string {
  const redact = createRedactor(secrets)
  const redactString = (_: string, text: string, colon = '') => `"${colon ? redact.field(text) : redact(text)}"${colon}`
  // Nearly all lines contain no secret. They are not split into strings.
  return (line) => (redact(line) === line ? line : line.replace(JSON_STRING, redactString))
}
