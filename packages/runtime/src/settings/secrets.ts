import type { AnyService } from '../service.ts'
import { settingsOf } from './config.ts'

/** What stands in a log where a secret would. */
const HIDDEN = '[secret]'

/** The values of a service's secret settings, but for defaults, which everybody knows. */
export function secretsOf(definition: Pick<AnyService, 'settings'>, config: Record<string, unknown>): string[] {
  return Object.entries(settingsOf(definition)).flatMap(([name, { secret, default: common }]) => {
    if (!secret) return []
    const known = new Set<unknown>([common].flat())
    return [config[name]].flat().filter((value) => typeof value === 'string' && !known.has(value)) as string[]
  })
}

/**
 * Takes secrets out of text: as they are, as URLs have them, and as JSON has them. Whatever is logged passes here, because
 * faults of others carry what they were given, in words, in fields and in causes.
 */
export function hiding(secrets: readonly string[]): (text: string) => string {
  const known = secrets.filter(Boolean).map((secret) => secret.toWellFormed())
  const forms = known.flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    encodeURI(secret),
    new URLSearchParams({ '': secret }).toString().slice(1),
  ])
  if (forms.length === 0) return (text) => text
  const all = [...new Set([...forms, ...forms.map(inJson)])].toSorted((a, b) => b.length - a.length)
  const pattern = new RegExp(all.map((form) => RegExp.escape(form)).join('|'), 'g')
  return (text) => text.replace(pattern, HIDDEN)
}

const inJson = (text: string) => JSON.stringify(text).slice(1, -1)

const STRINGS = /"(?:[^"\\]|\\.)*"/g

/** The same for a line of JSON, which stays JSON: a secret of digits may look like a part of a number. */
export function hidingInJson(secrets: readonly string[]): (line: string) => string {
  const hide = hiding(secrets)
  // Most lines have none: then nothing is taken apart.
  return (line) => (hide(line) === line ? line : line.replace(STRINGS, (text) => `"${hide(text.slice(1, -1))}"`))
}
