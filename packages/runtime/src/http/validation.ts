import type { Ajv, ErrorObject, Options, ValidateFunction } from 'ajv'
import { createRequire } from 'node:module'

// Loaded once something is to be checked or written: what nobody asks is smaller, and sooner ready.
const load = createRequire(import.meta.url)

// Unknown properties are errors, never dropped; defaults are filled in. Only what comes as text is converted:
// a number where a JSON body should have a string is a mistake.
const common = { strict: false, useDefaults: true, removeAdditional: false, verbose: true } as const

function createAjv(more: Options): Ajv {
  const { Ajv: Compiler } = load('ajv') as { readonly Ajv: new (options: Options) => Ajv }
  const { default: addFormats } = load('ajv-formats') as { readonly default: (ajv: Ajv) => Ajv }
  return addFormats(new Compiler({ ...common, ...more }))
}

let exact: Ajv | undefined
let fromText: Ajv | undefined

/** Whether something fits a schema; what does not is told by `errors`. */
export interface Fits {
  (data: unknown): boolean
  errors?: ErrorObject[] | null | undefined
}

/** The check by the schema of one part of a request: `body`, `querystring`, `params` or `headers`. Compiled when first called. */
export function validatorOf(schema: object, httpPart: string | undefined): Fits {
  let compiled: ValidateFunction | undefined
  const fits: Fits = (data) => {
    const ajv = httpPart === 'body' ? (exact ??= createAjv({})) : (fromText ??= createAjv({ coerceTypes: true }))
    compiled ??= ajv.compile(schema)
    const does = compiled(data)
    fits.errors = compiled.errors
    return does
  }
  return fits
}

type Write = (data: unknown) => string

/** The text of replies by their schema. Compiled when first called. */
export function serializerOf(schema: object): Write {
  let compiled: Write | undefined
  return (data) => (compiled ??= (load('fast-json-stringify') as (schema: object) => Write)(schema))(data)
}

/** For routes that read their body from its bytes: the schema of the body is for the document alone. */
export const unreadBody = ({ schema, httpPart }: { schema: unknown; httpPart?: string }) =>
  httpPart === 'body' ? () => true : validatorOf(schema as object, httpPart)

/** Pattern of text that has whole characters only: half of a surrogate pair has no UTF-8, so no reply could repeat it. */
export const WHOLE_TEXT = '^[^\\uD800-\\uDFFF]*$'
/** Pattern of a name: `WHOLE_TEXT` without NUL, at which many programs end a text. */
export const NAME_TEXT = '^[^\\u0000\\uD800-\\uDFFF]*$'

const PATTERN_MESSAGES: Readonly<Record<string, string>> = {
  [WHOLE_TEXT]: 'has half of a character: send whole characters',
  [NAME_TEXT]: 'has a NUL or half of a character: send whole characters other than NUL',
}

/** What is told of an error of Ajv's. */
export type Misfit = Pick<ErrorObject, 'instancePath' | 'keyword' | 'params' | 'message' | 'parentSchema'>

const MOST_NAMES = 24
const listed = (names: readonly unknown[]) =>
  names.length > MOST_NAMES ? `${names.slice(0, MOST_NAMES).join(', ')}, ...` : names.join(', ')

/** What does not fit and what would. @param where what the path begins with, `body` say */
export function misfitText({ instancePath, keyword, params, message, parentSchema }: Misfit, where = ''): string {
  const path = where + instancePath
  const text = [path, message ?? 'does not fit'].filter(Boolean).join(' ')
  if (keyword === 'pattern' && PATTERN_MESSAGES[params.pattern])
    return `${path} ${PATTERN_MESSAGES[params.pattern]}`.trim()
  if (keyword === 'enum') return `${text}: ${listed(params.allowedValues)}`
  if (keyword !== 'additionalProperties') return text
  const known = Object.keys(parentSchema?.properties ?? {})
  const allowed = known.length > 0 ? `; there are ${listed(known)}` : ''
  return [path, `has no property "${params.additionalProperty}"${allowed}`].filter(Boolean).join(' ')
}
