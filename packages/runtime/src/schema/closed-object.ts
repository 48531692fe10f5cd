/**
 * Returns the schema of an object that has no other properties than these.
 * @param more further keywords, such as `title` or `required`
 */
export const closedObject = <const Properties extends object, const More extends object = {}>(
  properties: Properties,
  more?: More,
) => ({ type: 'object', ...more!, additionalProperties: false, properties }) as const
