/** A JSON number as it is written, so that no digit is lost. */
export class JsonNumber {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  toJSON(): unknown {
    return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(this.text)
  }
}

/** A JSON value whose numbers have their texts. */
export type Json = null | boolean | string | JsonNumber | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [name: string]: Json | undefined
}

type Reviver = (name: string, value: unknown, context: { readonly source: string }) => unknown

/** Parses JSON. `JSON.stringify` writes the same numbers again. @throws SyntaxError */
export function parseJson(text: string): Json {
  const revive: Reviver = (_, value, { source }) => (typeof value === 'number' ? new JsonNumber(source) : value)
  return JSON.parse(text, revive as never)
}

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber)

/**
 * Compares two values, numbers by their texts. The order of the fields of an object does not matter.
 * @returns the path of the first difference; undefined if there is none
 */
export function findDifference(expected: Json | undefined, received: Json | undefined, path = ''): string | undefined {
  if (Array.isArray(expected) && Array.isArray(received)) {
    for (let i = 0; i < Math.max(expected.length, received.length); i++) {
      const found = findDifference(expected[i], received[i], `${path}/${i}`)
      if (found) return found
    }
    return undefined
  }
  if (isObject(expected) && isObject(received)) {
    for (const name of new Set([...Object.keys(expected), ...Object.keys(received)])) {
      const found = findDifference(expected[name], received[name], `${path}/${name}`)
      if (found) return found
    }
    return undefined
  }
  return JSON.stringify(expected) === JSON.stringify(received) ? undefined : path || '/'
}
