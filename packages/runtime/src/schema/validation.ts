import type { Ajv, ErrorObject, Options, ValidateFunction } from 'ajv'
import { createRequire } from 'node:module'

// Loads Ajv and the serializer when the first value is validated or serialized: until then, the thread needs less
// memory, and it is ready sooner.
const load = createRequire(import.meta.url)

// Unknown properties are never dropped: a schema with `additionalProperties: false` refuses them. Defaults are filled
// in. Only the parts of a request that arrive as text are converted to other types: in a JSON body, a number instead of
// a string is an error.
const commonOptions = { strict: false, useDefaults: true, removeAdditional: false, verbose: true } as const

function createAjv(more: Options): Ajv {
  const { Ajv: Compiler } = load('ajv') as { readonly Ajv: new (options: Options) => Ajv }
  const { default: addFormats } = load('ajv-formats') as { readonly default: (ajv: Ajv) => Ajv }
  const ajv = addFormats(new Compiler({ ...commonOptions, ...more }))
  for (const [name, isValid] of definedFormats) ajv.addFormat(name, isValid)
  return ajv
}

const definedFormats = new Map<string, (text: string) => boolean>()

/** Defines a format of texts, for schemas of the whole process. See `describeFormat` for its error messages. */
export function defineFormat<const Name extends string>(name: Name, isValid: (text: string) => boolean): Name {
  definedFormats.set(name, isValid)
  for (const ajv of [strictAjv, coercingAjv]) ajv?.addFormat(name, isValid)
  return name
}

let strictAjv: Ajv | undefined
let coercingAjv: Ajv | undefined

/** Returns true if data matches a schema. If not, `errors` has the reasons. */
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

/**
 * Validator compiler for routes that parse the bytes of the body themselves. It does not validate the body, whose
 * schema is for the OpenAPI document only.
 */
export const skipBodyValidation = ({ schema, httpPart }: { schema: unknown; httpPart?: string }) =>
  httpPart === 'body' ? () => true : createValidator(schema as object, httpPart)

/** Pattern of text without half of a surrogate pair. Such a half has no UTF-8, so no reply could repeat it. */
export const TEXT_PATTERN = '^[^\\uD800-\\uDFFF]*$'
/** Pattern of a name: `TEXT_PATTERN` without NUL, at which many programs end a text. */
export const NAME_PATTERN = '^[^\\u0000\\uD800-\\uDFFF]*$'
