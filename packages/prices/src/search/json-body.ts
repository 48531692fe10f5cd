import { commonErrors } from '@influencer-stats/runtime/errors'
import { describeJsonError } from '@influencer-stats/runtime/received-value'
import { isUtf8 } from 'node:buffer'

/** @throws Problem `BAD_JSON` */
export function readBodyText(body: Buffer): string {
  if (body.length === 0) throw commonErrors.BAD_JSON(describeJsonError('', 'body'))
  // Decoding replaces invalid bytes by U+FFFD, which can make two names equal.
  if (!isUtf8(body)) throw commonErrors.BAD_JSON('body must be UTF-8; received other bytes')
  return body.toString()
}

/** @throws Problem `BAD_JSON` */
export function parseJson(text: string, parse: (text: string) => unknown = JSON.parse): unknown {
  try {
    return parse(text)
  } catch {
    throw commonErrors.BAD_JSON(describeJsonError(text, 'body'))
  }
}

/** Returns the text of a number in a JSON object. @param field its name in the object, which must have it */
export function findNumberSource(json: string, field: string): string {
  const sources = new Map<object, string>()
  const root: object = JSON.parse(json, function (this: object, key, value, context?: { source?: string }) {
    if (key === field && context?.source !== undefined) sources.set(this, context.source)
    return value
  } as (key: string, value: unknown) => unknown)
  return sources.get(root)!
}
