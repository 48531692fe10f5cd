import { findText, text, type TextKey } from '../texts/texts.ts'
import { translateRemedy } from './upstream-status.ts'

/** The content of a `ServiceError`. */
export interface ServiceRefusal {
  readonly code: string
  readonly status: number
  readonly detail?: string | undefined
  /** The whole problem. */
  readonly body: Readonly<Record<string, unknown>>
}

/** The required change for each invalid field. The detail of a validation fault begins with the field. */
const FIELD_TEXTS = [
  [/^(body\/)?videos\/\d+|^params\/video/, 'field.video'],
  [/^(body\/)?videos/, 'field.videos'],
  [/^(body\/)?name/, 'field.name'],
  [/^(body\/)?tags/, 'field.tags'],
  [/^body\/change/, 'field.tags'],
  [/^(body\/)?from/, 'field.from'],
  [/^(body\/)?to(?!\w)/, 'field.to'],
  [/^(body\/)?cost/, 'field.cost'],
  [/^(body\/)?currency/, 'field.currency'],
  [/^(body\/)?days/, 'field.days'],
  [/^body\/sources\/\d+\/id/, 'field.source'],
  [/^body\/sources/, 'field.sources'],
  [/^body\/token/, 'field.token'],
  [/^body\/url/, 'field.url'],
  [/^body must have a row/, 'field.file'],
  [/^(params\/id|querystring\/campaign|body\/campaign)/, 'field.campaign'],
  [/^querystring/, 'field.query'],
] as const satisfies readonly (readonly [RegExp, TextKey])[]

/** Finds, at the end of a fault's detail, the input that is not a link to a video. */
const BAD_LINK_PATTERN = /or a link to one; received "(.*)"(?: \(\d+ characters\))?$/s

function findFieldSentence(detail: string): string {
  const [, key = 'error.input'] = FIELD_TEXTS.find(([pattern]) => pattern.test(detail)) ?? []
  const [, link] = BAD_LINK_PATTERN.exec(detail) ?? []
  return key === 'field.video' && link !== undefined ? text('field.videoLink', { link }) : text(key)
}

/** A sentence for a code alone. The sentences of all codes are texts of the page: `error.CODE`. */
const findSentence = (code: string) => findText(`error.${code}`)
export const getSentence = (code: string): string => findSentence(code) ?? text('error.refused', { code })

/**
 * The fault and the required change, in a sentence for people. From the reply it contains only the code, the `remedy` of
 * an outage of YouTube, and the text that is not a link.
 */
export function describeRefusal({ code, status, detail, body }: ServiceRefusal): string {
  if (code === 'VALIDATION_FAILED') return findFieldSentence(detail ?? '')
  const sentence = findSentence(code)
  if (sentence !== undefined)
    return typeof body.remedy === 'string' ? `${sentence} ${translateRemedy(body.remedy)}` : sentence
  return status >= 500 ? text('error.unavailable', { code }) : getSentence(code)
}
