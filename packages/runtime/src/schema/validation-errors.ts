import type { ErrorObject } from 'ajv'
import {
  formatNames,
  formatReason,
  formatReceived,
  formatText,
  HIDDEN_VALUE,
  INVALID_QUERY,
  isSecretName,
} from '../received-value.ts'
import { NAME_PATTERN, TEXT_PATTERN } from './validation.ts'

/** Descriptions of the characters that these patterns allow. */
const CHARACTERS: Readonly<Record<string, string>> = {
  [TEXT_PATTERN]: 'whole characters',
  [NAME_PATTERN]: 'whole characters (no NUL)',
}
/** Descriptions of formats. */
const FORMATS: Record<string, string> = {
  date: 'a date such as 2026-01-31',
  'date-time': 'a time such as 2026-01-31T12:00:00Z',
  uri: 'a URI such as https://example.com/',
}

/** Sets the noun phrase that error messages show for a format. */
export function describeFormat(name: string, description: string): void {
  FORMATS[name] = description
}

const patternDescriptions = new Map<string, string>()

/**
 * Sets the text that error messages show instead of this pattern: a noun phrase such as `a number sign and digits such
 * as #7`.
 * @returns the pattern
 */
export function describePattern<const Pattern extends string>(pattern: Pattern, description: string): Pattern {
  patternDescriptions.set(pattern, description)
  return pattern
}

/** An error that Ajv reports. */
export type ValidationError = ErrorObject

interface Schema {
  readonly title?: string
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
 * Describes why a value is invalid: the field, the allowed values and the received value.
 * @param errors all errors that the validator reported
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
    return `${path} must have the ${field} ${formatReceived(params.missingProperty)}; required: ${formatNames(schema.required ?? [])}; received ${received}`.trim()
  }
  if (keyword === 'additionalProperties') {
    const known = Object.keys(schema.properties ?? {})
    const plural = field === 'parameter' ? 'parameters' : 'properties'
    const list = known.length > 0 ? `known: ${formatNames(known)}` : `no ${plural} are allowed`
    return `${path} has the unknown ${field} ${formatReceived(params.additionalProperty)}; ${list}`.trim()
  }
  const received = isSecret(instancePath, schema) ? HIDDEN_VALUE : formatReceived(data)
  const expectation = DESCRIBED_KEYWORDS.has(keyword)
    ? `must be ${describeSchema(schema)}`
    : (message ?? 'is not valid')
  return `${path} ${expectation}; received ${received}`.trim()
}

const DESCRIBED_KEYWORDS = new Set([
  'type',
  'enum',
  'const',
  'pattern',
  'format',
  'anyOf',
  'oneOf',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
])

const MAX_PATH_SEGMENTS = 9

/** Formats a path for a message. It may contain property names that the client chose, so they are escaped. */
const formatPath = (instancePath: string, where: string) =>
  where +
  instancePath
    .split('/', MAX_PATH_SEGMENTS + 1)
    .map(formatText)
    .join('/')

function isSecret(instancePath: string, { writeOnly, format }: Schema): boolean {
  return writeOnly === true || format === 'password' || instancePath.split('/').some(isSecretName)
}

/**
 * Describes a value that matches none of several alternatives. Alternatives of another type, or that a field such as
 * `op` excludes, are not considered. The error of the best remaining alternative is the reason. All alternatives are
 * listed if none remains, or if the value itself is wrong and no alternative is an object.
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
  // Prefer an alternative whose required fields are present: the client probably meant that one.
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

/** Describes the values that a schema allows, as a noun phrase. */
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
  if (type === 'object') return describeObject(schema)
  if (type === 'array') return `an array${describeBounds(schema.minItems, schema.maxItems, 'item')}`
  if (type === 'string') return describeString(schema)
  if (schema.minimum === -Number.MAX_VALUE && schema.maximum === Number.MAX_VALUE) return 'a finite number'
  const noun = type === 'integer' ? 'an integer' : 'a number'
  return noun + describeRange(schema)
}

/** A schema with a title is a whole body, whose example is too long. */
const describeObject = ({ title, examples }: Schema) =>
  title === undefined && examples ? `an object such as ${JSON.stringify(examples[0])}` : 'an object'

function describeString({ pattern, format, minLength, maxLength, examples }: Schema): string {
  const description = patternDescriptions.get(pattern ?? '') ?? FORMATS[format ?? '']
  if (description !== undefined) return description
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
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`
  if (minimum !== undefined) return ` of at least ${minimum}`
  return maximum === undefined ? '' : ` of at most ${maximum}`
}
