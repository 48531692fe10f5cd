import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'

// Unknown properties are errors, never dropped; defaults are filled in. Only what comes as text is converted:
// a number where a JSON body should have a string is a mistake.
const common = { strict: false, useDefaults: true, removeAdditional: false, verbose: true } as const
const exact = formats.default(new Ajv(common))
const fromText = formats.default(new Ajv({ ...common, coerceTypes: true }))

/** Compiles the schema of one part of a request: `body`, `querystring`, `params` or `headers`. */
export function validatorOf(schema: object, httpPart: string | undefined): ValidateFunction {
  return (httpPart === 'body' ? exact : fromText).compile(schema)
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
  if (keyword === 'enum') return `${text}: ${listed(params.allowedValues)}`
  if (keyword !== 'additionalProperties') return text
  const known = Object.keys(parentSchema?.properties ?? {})
  const allowed = known.length > 0 ? `; there are ${listed(known)}` : ''
  return [path, `has no property "${params.additionalProperty}"${allowed}`].filter(Boolean).join(' ')
}
