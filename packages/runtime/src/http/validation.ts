import type { Ajv, ErrorObject, Options, ValidateFunction } from 'ajv'
import { createRequire } from 'node:module'

// Loaded when the first value is validated or serialized: until then the thread is smaller, and it is ready sooner.
const load = createRequire(import.meta.url)

// Unknown properties are errors, never dropped; defaults are filled in. Only parts that arrive as text are converted:
// in a JSON body, a number instead of a string is an error.
const commonOptions = { strict: false, useDefaults: true, removeAdditional: false, verbose: true } as const

function createAjv(more: Options): Ajv {
  const { Ajv: Compiler } = load('ajv') as { readonly Ajv: new (options: Options) => Ajv }
  const { default: addFormats } = load('ajv-formats') as { readonly default: (ajv: Ajv) => Ajv }
  return addFormats(new Compiler({ ...commonOptions, ...more }))
}

let strictAjv: Ajv | undefined
let coercingAjv: Ajv | undefined

/** Validates data against a schema. `errors` has the reasons if the data is invalid. */
export interface SchemaValidator {
  (data: unknown): boolean
  errors?: ErrorObject[] | null | undefined
}

/**
 * Creates the validator for one part of a request: `body`, `querystring`, `params` or `headers`. Compiled at the first
 * call.
 */
export function createValidator(schema: object, httpPart: string | undefined): SchemaValidator {
  let compiled: ValidateFunction | undefined
  const validate: SchemaValidator = (data) => {
    const ajv = httpPart === 'body' ? (strictAjv ??= createAjv({})) : (coercingAjv ??= createAjv({ coerceTypes: true }))
    compiled ??= ajv.compile(schema)
    const isValid = compiled(data)
    validate.errors = compiled.errors
    return isValid
  }
  return validate
}

type Serializer = (data: unknown) => string

/** Creates the serializer for a reply schema. Compiled at the first call. */
export function createSerializer(schema: object): Serializer {
  let compiled: Serializer | undefined
  return (data) => (compiled ??= (load('fast-json-stringify') as (schema: object) => Serializer)(schema))(data)
}

/** For routes that parse the bytes of the body themselves: the schema of the body is for the OpenAPI document only. */
export const skipBodyValidation = ({ schema, httpPart }: { schema: unknown; httpPart?: string }) =>
  httpPart === 'body' ? () => true : createValidator(schema as object, httpPart)

/** Pattern of text without half of a surrogate pair. Such a half has no UTF-8, so no reply could repeat it. */
export const TEXT_PATTERN = '^[^\\uD800-\\uDFFF]*$'
/** Pattern of a name: `TEXT_PATTERN` without NUL, at which many programs end a text. */
export const NAME_PATTERN = '^[^\\u0000\\uD800-\\uDFFF]*$'

const PATTERN_MESSAGES: Readonly<Record<string, string>> = {
  [TEXT_PATTERN]: 'has half of a character: send whole characters',
  [NAME_PATTERN]: 'has a NUL or half of a character: send whole characters other than NUL',
}

/** The part of an Ajv error that messages use. */
export type ValidationError = Pick<ErrorObject, 'instancePath' | 'keyword' | 'params' | 'message' | 'parentSchema'>

const MAX_LISTED_NAMES = 24
const formatNames = (names: readonly unknown[]) =>
  names.length > MAX_LISTED_NAMES ? `${names.slice(0, MAX_LISTED_NAMES).join(', ')}, ...` : names.join(', ')

/** Describes an invalid value, and the valid ones if they are few. @param where prefix of the path, such as `body` */
export function describeValidationError(
  { instancePath, keyword, params, message, parentSchema }: ValidationError,
  where = '',
): string {
  const path = where + instancePath
  const text = [path, message ?? 'does not fit'].filter(Boolean).join(' ')
  if (keyword === 'pattern' && PATTERN_MESSAGES[params.pattern])
    return `${path} ${PATTERN_MESSAGES[params.pattern]}`.trim()
  if (keyword === 'enum') return `${text}: ${formatNames(params.allowedValues)}`
  if (keyword !== 'additionalProperties') return text
  const known = Object.keys(parentSchema?.properties ?? {})
  const allowed = known.length > 0 ? `; there are ${formatNames(known)}` : ''
  return [path, `has no property "${params.additionalProperty}"${allowed}`].filter(Boolean).join(' ')
}
