import type { Ajv, ErrorObject, Options, ValidateFunction } from 'ajv'
import { createRequire } from 'node:module'
import {
  formatNames,
  formatReason,
  formatReceived,
  formatText,
  HIDDEN_VALUE,
  INVALID_QUERY,
  isSecretName,
} from '../received-value.ts'

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

const CHARACTERS: Readonly<Record<string, string>> = {
  [TEXT_PATTERN]: 'whole characters',
  [NAME_PATTERN]: 'whole characters (no NUL)',
}
const FORMATS: Readonly<Record<string, string>> = {
  date: 'a date such as 2026-01-31',
  'date-time': 'a time such as 2026-01-31T12:00:00Z',
  uri: 'a URI such as https://example.com/',
}

const forms = new Map<string, string>()

/** Gives a pattern the noun phrase that errors use for it, with an example. @returns the pattern */
export function defineForm<const Pattern extends string>(pattern: Pattern, form: string): Pattern {
  forms.set(pattern, form)
  return pattern
}

/** An error of Ajv's, as far as messages need it. */
export type ValidationError = ErrorObject

interface Schema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly pattern?: string
  readonly format?: string
  readonly examples?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly writeOnly?: boolean
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
}

/**
 * Describes the first error of a value: the field, the allowed values and the received value.
 * @param errors all that the validator reported
 * @param where start of the path, such as `body`
 */
export function describeValidationError(errors: readonly ValidationError[], where = ''): string {
  const last = errors.at(-1)
  if (!last) return `${where} is not valid`.trim()
  if (last.keyword === 'anyOf' || last.keyword === 'oneOf') return describeAlternatives(errors, last, where)
  return describeError(last, where)
}

function describeError(error: ValidationError, where: string): string {
  const { instancePath, keyword, params, message, data } = error
  const schema = (error.parentSchema ?? {}) as Schema
  const path = formatPath(instancePath, where)
  const field = instancePath === '' && where === 'querystring' ? 'parameter' : 'property'
  const reason = field === 'parameter' ? (data as Record<string, unknown>)[INVALID_QUERY] : undefined
  if (reason !== undefined) return `${path}: ${formatReason(reason)}`
  if (keyword === 'required') {
    const names = Object.keys(data as object)
    const received = field === 'parameter' && names.length > 0 ? formatNames(names) : formatReceived(data)
    return `${path} must have the ${field} ${formatReceived(params.missingProperty)}; required are ${formatNames(schema.required ?? [])}; received ${received}`.trim()
  }
  if (keyword === 'additionalProperties') {
    const known = Object.keys(schema.properties ?? {})
    const list = known.length > 0 ? `known are ${formatNames(known)}` : 'there are none'
    return `${path} has the unknown ${field} ${formatReceived(params.additionalProperty)}; ${list}`.trim()
  }
  const received = isSecret(instancePath, schema) ? HIDDEN_VALUE : formatReceived(data)
  const expectation = DESCRIBED_KEYWORDS.has(keyword)
    ? `must be ${describeSchema(schema)}`
    : (message ?? 'is not valid')
  return `${path} ${expectation}; received ${received}`.trim()
}

const DESCRIBED_KEYWORDS = new Set(
  ['type', 'enum', 'const', 'pattern', 'format', 'anyOf', 'oneOf', 'minimum', 'maximum'].concat([
    'minLength',
    'maxLength',
    'minItems',
    'maxItems',
  ]),
)

/** The names of a path are the client's where a schema allows any name. */
const formatPath = (instancePath: string, where: string) =>
  where + instancePath.split('/').map(formatText).slice(0, 10).join('/')

function isSecret(instancePath: string, { writeOnly, format }: Schema): boolean {
  return writeOnly === true || format === 'password' || instancePath.split('/').some(isSecretName)
}

/**
 * Describes a value that fits none of several alternatives. Alternatives of another type, or that a field such as
 * `op` excludes, are not considered. If one remains, its own error is the reason.
 */
function describeAlternatives(errors: readonly ValidationError[], last: ValidationError, where: string): string {
  const { schemaPath, data, instancePath } = last
  const schemas = last.schema as readonly Schema[]
  const typed = schemas.map((_, i) => i).filter((i) => isOfType(data, schemas[i]!))
  if (typed.length > 1 && typed.every((i) => schemas[i]!.properties)) {
    const properties = data as Record<string, unknown>
    for (const name of Object.keys(schemas[typed[0]!]!.properties!)) {
      const enums = typed.map((i) => schemas[i]!.properties![name]?.enum)
      if (properties[name] === undefined || enums.includes(undefined)) continue
      const allowed = [...new Set(enums.flat())]
      if (!allowed.includes(properties[name])) {
        const error = { instancePath: `${instancePath}/${name}`, keyword: 'enum', data: properties[name] }
        return describeError({ ...last, ...error, parentSchema: { enum: allowed } }, where)
      }
      const fitting = typed.filter((_, at) => enums[at]!.includes(properties[name]))
      typed.splice(0, typed.length, ...fitting)
    }
  }
  const reasons = typed.flatMap((i) => {
    const own = errors.filter((error) => error.schemaPath.startsWith(`${schemaPath}/${i}/`))
    return own.length > 0 ? [own] : []
  })
  // Alternatives whose required fields are all present come first: the others are not meant.
  const reason = reasons.find((own) => own.at(-1)!.keyword !== 'required') ?? reasons[0]
  const isSimple = schemas.every((schema) => !schema.properties)
  const isInner = reason?.at(-1)!.instancePath !== instancePath
  if (reason && (isInner || !isSimple)) return describeValidationError(reason, where)
  return describeError({ ...last, keyword: 'anyOf', parentSchema: { anyOf: schemas } }, where)
}

function isOfType(value: unknown, { type }: Schema): boolean {
  const types = type === undefined ? [] : [type].flat()
  const actual = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
  return types.length === 0 || types.includes(actual) || (actual === 'number' && types.includes('integer'))
}

/** The allowed values in words, as a noun phrase. */
export function describeSchema(schema: Schema): string {
  const { enum: values, const: constant, anyOf, oneOf, type } = schema
  if (constant !== undefined) return formatReceived(constant)
  if (values) return values.length === 1 ? formatReceived(values[0]) : `one of ${formatNames(values)}`
  const alternatives = anyOf ?? oneOf
  if (alternatives) return joinAlternatives(alternatives.map(describeSchema))
  if (type === undefined) return 'another value'
  return joinAlternatives([type].flat().map((one) => describeType(one, schema)))
}

const joinAlternatives = (phrases: readonly string[]) => {
  const unique = [...new Set(phrases)]
  return unique.length < 3 ? unique.join(' or ') : `${unique.slice(0, -1).join(', ')} or ${unique.at(-1)}`
}

function describeType(type: string, schema: Schema): string {
  if (type === 'boolean') return 'true or false'
  if (type === 'null') return 'null'
  if (type === 'object') return 'an object'
  if (type === 'array') return `an array${describeBounds(schema.minItems, schema.maxItems, 'item')}`
  if (type === 'string') return describeString(schema)
  const noun = type === 'integer' ? 'an integer' : 'a number'
  return noun + describeRange(schema)
}

function describeString({ pattern, format, minLength, maxLength, examples }: Schema): string {
  const form = forms.get(pattern ?? '') ?? FORMATS[format ?? '']
  if (form !== undefined) return form
  const characters = CHARACTERS[pattern ?? '']
  const bounds = describeBounds(minLength, maxLength, 'character', characters)
  if (characters !== undefined) return `a string${bounds || ` of ${characters}`}`
  if (pattern === undefined) return `a string${bounds}`
  const example = examples?.[0] === undefined ? '' : `, such as ${formatReceived(examples[0])}`
  return `a string${bounds} that matches ${formatText(pattern)}${example}`
}

function describeBounds(min: number | undefined, max: number | undefined, noun: string, plural = `${noun}s`): string {
  const count = (n: number) => `${n} ${n === 1 && plural === `${noun}s` ? noun : plural}`
  if (min !== undefined && min === max) return ` of ${count(min)}`
  if (min !== undefined && max !== undefined) return ` of ${min} to ${count(max)}`
  if (max !== undefined) return ` of at most ${count(max)}`
  return min === undefined || min === 0 ? '' : ` of at least ${count(min)}`
}

function describeRange({ minimum, maximum }: Schema): string {
  if (minimum === -Number.MAX_VALUE && maximum === Number.MAX_VALUE) return ' of the range of a double'
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`
  if (minimum !== undefined) return ` of at least ${minimum}`
  return maximum === undefined ? '' : ` of at most ${maximum}`
}
