import { Ajv, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'

// Unknown properties are errors, never dropped; defaults are filled in. Only what comes as text is converted:
// a number where a JSON body should have a string is a mistake.
const common = { strict: false, useDefaults: true, removeAdditional: false } as const
const exact = formats.default(new Ajv(common))
const fromText = formats.default(new Ajv({ ...common, coerceTypes: true }))

/** Compiles the schema of one part of a request: `body`, `querystring`, `params` or `headers`. */
export function validatorOf(schema: object, httpPart: string | undefined): ValidateFunction {
  return (httpPart === 'body' ? exact : fromText).compile(schema)
}
