type Json = { [name: string]: unknown }

const PREFIX = '#/components/schemas/'

/** `Google's error` becomes `GooglesError`. */
const toName = (title: string): string =>
  title
    .replaceAll("'", '')
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')

/**
 * Gives the schemas of an OpenAPI document that have a title a name of their own under `components`, for those who make
 * types of them; where they stand, a reference is left, and a description of what they are there.
 * @throws where two that differ have the same title
 */
export function nameSchemas(document: object): void {
  const schemas: Record<string, Json> = {}

  function named(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(named)
    if (typeof value !== 'object' || value === null) return value
    const { examples, example, ...rest } = value as Json
    const made: Json = {}
    for (const [name, part] of Object.entries(rest)) made[name] = named(part)
    // Not looked into: what they have is data.
    if (example !== undefined) made.example = example
    if (examples !== undefined) made.examples = examples
    return isNamed(made) ? refer(made) : made
  }

  function refer({ description, ...schema }: Json & { title: string }): Json {
    const name = toName(schema.title)
    const known = (schemas[name] ??= schema)
    if (contentOf(known) !== contentOf(schema)) throw new Error(`two schemas have the title "${schema.title}"`)
    known.examples ??= schema.examples
    return { $ref: PREFIX + name, ...(description !== undefined && { description }) }
  }

  const { paths, components } = document as { paths: Json; components: Json }
  Object.assign(document, { paths: named(paths), components: { ...components, schemas } })
}

const contentOf = ({ examples: _examples, ...schema }: Json) => JSON.stringify(schema)

const isNamed = (value: Json): value is Json & { title: string } =>
  typeof value.title === 'string' && ('type' in value || 'anyOf' in value)
