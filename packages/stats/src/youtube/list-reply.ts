import { parseErrorReply, type ReplyContext } from './error-reply.ts'
import { createUnreadableReply, UpstreamProblem } from './upstream-problem.ts'

/** @throws Problem `UPSTREAM_UNAVAILABLE` for a text that is no JSON */
function parseJson(text: string): any {
  try {
    return JSON.parse(text)
  } catch {
    throw createUnreadableReply('the response was not JSON')
  }
}

/** A list of the API. */
export interface ListReply {
  readonly items: readonly any[]
  /** The whole reply. */
  readonly reply: any
}

/**
 * Parses a reply of a method `list`. Google omits `items` from some empty lists.
 * @param kind `kind` of the list
 * @param noun what the list contains, for error messages
 * @throws Problem `UPSTREAM_UNAVAILABLE` for an error reply and for content that is not such a list
 */
export function parseListReply(
  status: number,
  text: string,
  { kind, noun, context = {} }: { readonly kind: string; readonly noun: string; readonly context?: ReplyContext },
): ListReply {
  if (status !== 200) throw new UpstreamProblem(parseErrorReply(status, text, context))
  const reply = parseJson(text)
  const items = reply?.items ?? (reply?.kind === kind ? [] : undefined)
  if (!Array.isArray(items)) throw createUnreadableReply(`the response was not a list of ${noun}`)
  return { items, reply }
}

/**
 * Parses a count, which YouTube sends as a string. Undefined if it is absent. `NaN` if the value is no count, or larger
 * than a number can hold exactly.
 */
export function parseCount(value: unknown): number | undefined {
  if (value === undefined) return undefined
  const count = typeof value === 'string' && /^\d{1,20}$/.test(value) ? Number(value) : NaN
  return Number.isSafeInteger(count) ? count : NaN
}
