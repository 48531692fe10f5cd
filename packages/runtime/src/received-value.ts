/** Maximum length of a received text in a message (characters). */
const MAX_SHOWN_CHARACTERS = 100
/** Maximum number of names of a list in a message. */
const MAX_LISTED_NAMES = 24
/**
 * Name of the parameter that a parser of query strings returns for a malformed query string. Its value is the reason.
 * Strict schemas refuse the parameter, and the message is then that reason.
 */
export const INVALID_QUERY = '(invalid)'
/** Maximum length of such a reason (characters). */
const MAX_REASON_CHARACTERS = 400
/** Replaces the value of a field that may contain a secret. */
export const HIDDEN_VALUE = 'a value that is not shown'

// Control and format characters, line separators and lone surrogates could change how a terminal displays the text.
const UNPRINTABLE_CHARACTER = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u
// A part of 256 characters is no host. It may be credentials whose end was cut off.
const URL_CREDENTIALS = /(?<=:\/\/)(?:[^/?#\s"]*@|[^/?#\s"]{256,})/g
const SECRET_PARAMETER = /([?&#;](?:[\w.-]*(?:token|secret|passw(?:or)?d|authorization|api[-_]?key)|key)=)[^&#;\s"]+/gi
const SECRET_NAME =
  /^key$|(?:token|secret|passw(?:or)?d|passphrase|authorization|cookie|credential|api[-_]?key|private[-_]?key)s?$/i

/** True if a field with this name may contain a secret, such as `access_token`. */
export const isSecretName = (name: string): boolean => SECRET_NAME.test(name)

/** Shortens and escapes a text for a message. `isWhole` is true if the result contains the whole text. */
function shorten(
  text: string,
  escape: (character: string) => string,
  maxLength = MAX_SHOWN_CHARACTERS,
): { shown: string; isWhole: boolean } {
  // The slice limits the time for a long text.
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

/**
 * Returns text for a message: at most 100 characters and `...`, control characters escaped, without credentials of a
 * URL.
 */
export const formatText = (text: string): string => shorten(text, escapeUnprintable).shown

/** Formats the value of `INVALID_QUERY` for a message. It may be any text from a client. */
export const formatReason = (reason: unknown): string =>
  shorten(String(reason), escapeUnprintable, MAX_REASON_CHARACTERS).shown

/** Returns a list of names for a message, in their order. */
export function formatNames(names: readonly unknown[]): string {
  const shown = names.slice(0, MAX_LISTED_NAMES).map((name) => formatText(String(name)))
  return [...shown, ...(names.length > MAX_LISTED_NAMES ? ['...'] : [])].join(', ')
}

/**
 * Formats a received value for a message. A text is quoted and has at most 100 characters. An object is described by
 * the names of its properties, because their values may be secret.
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

/**
 * Describes a parameter of a query string that is not valid percent-encoded UTF-8.
 * @param name as received, before it is decoded
 */
export function describeEncodingFault(name: string, value: string): string {
  const received = isSecretName(name) ? HIDDEN_VALUE : formatReceived(value)
  return `${formatReceived(name)} must be percent-encoded UTF-8 such as a%20b; received ${received}`
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
 * Describes why a text is not valid JSON, with at most one character of its contents.
 * @param name name of the text, such as `body`
 */
export function describeJsonError(text: string, name: string): string {
  if (text === '') return `${name} must be valid JSON; received no text`
  let reason = '"__proto__" and "constructor.prototype" are not allowed'
  try {
    JSON.parse(text)
  } catch (error) {
    // V8 quotes the text near the error. The quotation is removed, because it may contain a secret.
    reason = formatText((error as Error).message.replace(/, (?:\.\.\.)?".*"(?:\.\.\.)? is not valid JSON$/s, ''))
  }
  return `${name} must be valid JSON: ${reason}; received ${text.length} characters`
}
