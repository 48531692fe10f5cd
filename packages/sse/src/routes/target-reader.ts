import { createValidator } from '@influencer-stats/runtime/validation'
import { parseQuery } from '../core/parse-query.ts'

/** Reads targets of one path whose query fits a schema; nothing where Fastify has to say what is wrong. */
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
