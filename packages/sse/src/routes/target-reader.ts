import { createValidator } from '@influencer-stats/runtime/validation'
import { parseQuery } from '../core/parse-query.ts'

/**
 * Creates a function that parses the target of a request: the query, if the path is `path` and the query is valid.
 * Otherwise it returns undefined, so that Fastify handles the request or reports the error.
 */
export function createTargetReader<Query>(path: string, schema: object): (target: string) => Query | undefined {
  const validate = createValidator(schema, 'querystring')
  return (target) => {
    if (!target.startsWith(path)) return undefined
    const rest = target.slice(path.length)
    if (rest !== '' && rest[0] !== '?') return undefined
    const query = parseQuery(rest.slice(1))
    return validate(query) ? (query as Query) : undefined
  }
}
