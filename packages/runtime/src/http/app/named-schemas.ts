type JsonObject = { [name: string]: unknown }

const REFERENCE_PREFIX = '#/components/schemas/'

/** Converts a title to a name: `Google's error` becomes `GooglesError`. */
const toName = (title: string): string =>
  title
    .replaceAll("'", '')
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')

/**
 * Moves each schema with a title to `components` of an OpenAPI document, so that generators of types find it by name. A
 * reference replaces the schema, with the description that applies to that use.
 * @throws Error if two different schemas have the same title
 */
export function nameSchemas(document: object): void {
  const schemas: Record<string, JsonObject> = {}

  function replaceNamed(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(replaceNamed)
    if (typeof value !== 'object' || value === null) return value
    const { examples, example, ...rest } = value as JsonObject
    const copy: JsonObject = {}
    for (const [name, part] of Object.entries(rest)) copy[name] = replaceNamed(part)
    // Examples are data, not schemas.
    if (example !== undefined) copy.example = example
    if (examples !== undefined) copy.examples = examples
    return isNamed(copy) ? toReference(copy) : copy
  }

  function toReference({ description, ...schema }: JsonObject & { title: string }): JsonObject {
    const name = toName(schema.title)
    const known = (schemas[name] ??= schema)
    if (toComparableText(known) !== toComparableText(schema))
      throw new Error(`two schemas have the title "${schema.title}"`)
    known.examples ??= schema.examples
    return { $ref: REFERENCE_PREFIX + name, ...(description !== undefined && { description }) }
  }

  const { paths, components } = document as { paths: JsonObject; components: JsonObject }
  Object.assign(document, { paths: replaceNamed(paths), components: { ...components, schemas } })
}

const toComparableText = ({ examples: _examples, ...schema }: JsonObject) => JSON.stringify(schema)

const isNamed = (value: JsonObject): value is JsonObject & { title: string } =>
  typeof value.title === 'string' && ('type' in value || 'anyOf' in value)
