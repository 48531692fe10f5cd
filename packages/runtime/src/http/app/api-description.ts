/** Description of a service, in its OpenAPI document and on its page. */
export interface ApiDescription {
  readonly title: string
  readonly description: string
  /** Returns the origin of the data, if that is another service. `stand-in` means that the data is invented. */
  readonly source?: (() => string) | undefined
}

/** Marks the schema of a route that accepts a missing body like an empty one. */
export const OPTIONAL_BODY = 'x-optional-body'

/** Spread this into the schema of a route that accepts a missing body. */
export const optionalBody = { [OPTIONAL_BODY]: true } as const
