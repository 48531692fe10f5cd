/** Maximum characters of a received text in a message. */
const MAX_SHOWN_CHARACTERS = 100
/** Maximum names of a list in a message. */
const MAX_LISTED_NAMES = 24
/**
 * The parameter by which a parser of query strings reports that it cannot parse one: its value is the reason. Strict
 * schemas refuse it, and then the reason is the message.
 */
export const INVALID_QUERY = '(invalid)'
/** Maximum characters of such a reason. */
const MAX_REASON_CHARACTERS = 400
/** Replaces the value of a field that may contain a secret. */
export const HIDDEN_VALUE = 'a value that is not shown'

// Control and format characters, line separators and lone surrogates could change how a terminal displays the text.
const UNPRINTABLE_CHARACTER = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u
// No host has 256 characters: then the end of the credentials was cut.
const URL_CREDENTIALS = /(?<=:\/\/)(?:[^/?#\s"]*@|[^/?#\s"]{256,})/g
const SECRET_PARAMETER = /([?&#;](?:[\w.-]*(?:token|secret|passw(?:or)?d|authorization|api[-_]?key)|key)=)[^&#;\s"]+/gi
const SECRET_NAME =
  /^key$|(?:token|secret|passw(?:or)?d|passphrase|authorization|cookie|credential|api[-_]?key|private[-_]?key)s?$/i

/** True if a field with this name may contain a secret, such as `access_token`. */
export const isSecretName = (name: string): boolean => SECRET_NAME.test(name)

/** Returns the beginning of a text as a message shows it, and true if this is all of it. */
function shorten(
  text: string,
  escape: (character: string) => string,
  maxLength = MAX_SHOWN_CHARACTERS,
): { shown: string; isWhole: boolean } {
  // The slice bounds the time for a long text.
  const start = text.slice(0, 20 * MAX_SHOWN_CHARACTERS)
  const safe = start.replace(URL_CREDENTIALS, '***@').replace(SECRET_PARAMETER, '$1***')
  let shown = ''
  for (const character of safe) {
    const escaped = escape(character)
    if (shown.length + escaped.length > maxLength) return { shown: `${shown}...`, isWhole: false }
    shown += escaped
  }
  return { shown, isWhole: start.length === text.length }
}

const escapeUnprintable = (character: string) =>
  UNPRINTABLE_CHARACTER.test(character) ? `\\u${character.codePointAt(0)!.toString(16).padStart(4, '0')}` : character

const escapeQuoted = (character: string) =>
  character === '"' || character === '\\' ? `\\${character}` : escapeUnprintable(character)

/** Returns text for a message: at most 100 characters, control characters escaped, without credentials of a URL. */
export const formatText = (text: string): string => shorten(text, escapeUnprintable).shown

/** Returns the reason under `INVALID_QUERY`, which may be any text of a client. */
export const formatReason = (reason: unknown): string =>
  shorten(String(reason), escapeUnprintable, MAX_REASON_CHARACTERS).shown

/** Returns a list of names for a message, in their order. */
export function formatNames(names: readonly unknown[]): string {
  const shown = names.slice(0, MAX_LISTED_NAMES).map((name) => formatText(String(name)))
  return [...shown, ...(names.length > MAX_LISTED_NAMES ? ['...'] : [])].join(', ')
}

/**
 * Returns a received value for a message. A text is quoted and has at most 100 characters. Of an object it returns only
 * the names of its properties, since their values may be secret.
 */
export function formatReceived(value: unknown): string {
  if (value === undefined) return 'no value'
  if (value instanceof Uint8Array)
    return formatReceived(Buffer.from(value.buffer, value.byteOffset, value.length).toString())
  if (typeof value === 'string') return formatString(value)
  if (Array.isArray(value)) return formatArray(value)
  if (typeof value !== 'object' || value === null) return formatText(String(value))
  const names = Object.keys(value)
  return names.length === 0 ? 'an empty object' : `an object with ${formatNames(names)}`
}

function formatString(text: string): string {
  const { shown, isWhole } = shorten(text, escapeQuoted)
  return isWhole ? `"${shown}"` : `"${shown}" (${text.length} characters)`
}

function formatArray(items: readonly unknown[]): string {
  const count = `an array of ${items.length} ${items.length === 1 ? 'item' : 'items'}`
  if (items.length === 0) return 'an empty array'
  if (items.length > 4 || items.some((item) => typeof item === 'object' && item !== null)) return count
  const text = items.map((item) => (typeof item === 'string' ? formatString(item) : String(item))).join(', ')
  return text.length > MAX_SHOWN_CHARACTERS ? count : `[${text}]`
}

/**
 * Describes why a text is not valid JSON, without any of its contents.
 * @param what the name of the text, such as `body`
 */
export function describeJsonError(text: string, what: string): string {
  if (text === '') return `${what} must be valid JSON; received no text`
  let reason = '"__proto__" and "constructor.prototype" are not allowed'
  try {
    JSON.parse(text)
  } catch (error) {
    // V8 quotes the text around the error, which may contain a secret.
    reason = formatText((error as Error).message.replace(/, (?:\.\.\.)?".*"(?:\.\.\.)? is not valid JSON$/s, ''))
  }
  return `${what} must be valid JSON: ${reason}; received ${text.length} characters`
}
