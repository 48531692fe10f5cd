import { closedObject } from '@influencer-stats/runtime/closed-object'
import { formatReceived } from '@influencer-stats/runtime/received-value'
import { createValidator } from '@influencer-stats/runtime/validation'
import { describeValidationError } from '@influencer-stats/runtime/validation-errors'
import { SIDE_KINDS } from '../core/quota-budget.ts'
import { LIVE_STATES } from '../core/video-details.ts'
import { COUNT_NAMES } from '../core/video-numbers.ts'
import type { ExportLine } from '../core/export-line.ts'
import { POST_COUNTS, POST_PLATFORMS } from '../core/posts/post.ts'
import { EXPORTED_KINDS, hasSource, RECORD_KEY_PATTERN, type RecordKind } from '../core/record-kinds.ts'
import { collectionReply, newCollectionParams, video, videos } from './collection-schemas.ts'

const time = { type: 'number', minimum: 0 } as const
const text = { type: 'string' } as const
const source = { type: 'string', minLength: 1, maxLength: 2_048 } as const
const { id } = newCollectionParams.properties

const totals = closedObject(
  { impressions: { type: 'number' }, engagements: { type: 'number' }, score: { type: 'number' }, videos: time },
  { required: ['impressions', 'engagements', 'score', 'videos'] },
)
const edits = { added: totals, removed: totals }

const numbers = closedObject(
  {
    id: video,
    ...Object.fromEntries(COUNT_NAMES.map((count) => [count, { type: 'number' }])),
    hidden: { type: 'array', items: { enum: COUNT_NAMES } },
    hiddenSince: time,
    omitted: time,
    gone: closedObject({ since: time, asOf: time }, { required: ['since', 'asOf'] }),
  },
  { required: ['id'] },
)

const snapshot = closedObject(
  {
    videos: { type: 'array', items: numbers },
    missing: videos,
    unknown: videos,
    asOf: time,
    since: time,
    point: closedObject({ at: time, ...edits }, { required: ['at'] }),
  },
  { required: ['videos', 'missing', 'asOf'] },
)

const point = closedObject(
  {
    ...totals.properties,
    at: time,
    asOf: time,
    before: { type: 'array', minItems: 2, maxItems: 2, items: time },
    ...edits,
  },
  { required: ['at', ...totals.required] },
)

const { version: _version, created: _created, ...fields } = collectionReply.properties
const collection = closedObject(
  { ...fields, id, revision: time, created: time, deleted: { type: 'string', format: 'date-time' } },
  { required: ['id', 'videos', 'revision'] },
)
const details = closedObject(
  {
    id: video,
    title: text,
    channel: text,
    channelId: text,
    publishedAt: text,
    duration: time,
    live: { type: 'string', enum: LIVE_STATES },
    asOf: time,
  },
  { required: ['id', 'asOf'] },
)

const units = { type: 'integer', minimum: 0, maximum: 2 ** 31 - 1 } as const
const usage = closedObject(
  {
    day: { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\d$' },
    used: units,
    kinds: closedObject(Object.fromEntries(SIDE_KINDS.map((kind) => [kind, units]))),
  },
  { required: ['day', 'used'] },
)

const validators = {
  usage: closedObject({ type: text, usage }, { required: ['usage'] }),
  details: closedObject({ type: text, source, details }, { required: ['source', 'details'] }),
  point: closedObject(
    { type: text, source, collection: id, video, point },
    { required: ['source', 'point'], oneOf: [{ required: ['collection'] }, { required: ['video'] }] },
  ),
  record: closedObject(
    {
      type: text,
      source,
      kind: { enum: EXPORTED_KINDS },
      key: { type: 'string', pattern: RECORD_KEY_PATTERN },
      value: { type: 'object' },
    },
    { required: ['kind', 'key', 'value'] },
  ),
  collection: closedObject(
    { type: text, collection, numbers: { type: 'object', propertyNames: source, additionalProperties: snapshot } },
    { required: ['collection', 'numbers'] },
  ),
}
const validate = Object.fromEntries(
  Object.entries(validators).map(([type, schema]) => [type, createValidator(schema, 'body')]),
)

/** Largest time of JavaScript (ms). */
const instant = { type: 'number', minimum: 0, maximum: 8.64e15 } as const
const counts = Object.fromEntries(POST_COUNTS.map((name) => [name, time]))
/** Values of records that are summed. */
const values: Partial<Record<RecordKind, object>> = {
  post: {
    type: 'object',
    required: ['platform', 'url', 'revision', 'points'],
    properties: {
      platform: { enum: POST_PLATFORMS },
      url: text,
      revision: time,
      points: time,
      last: closedObject({ ...counts, at: instant }, { required: ['at'] }),
    },
  },
  'post-numbers': {
    type: 'object',
    required: ['at', 'revision'],
    properties: { ...counts, at: instant, note: text, revision: time },
  },
}
const validateValue: Partial<Record<RecordKind, ReturnType<typeof createValidator>>> = Object.fromEntries(
  Object.entries(values).map(([kind, schema]) => [kind, createValidator(schema, 'body')]),
)

/** Returns a line of an export, or the reason why it is none. */
export function parseExportLine(text: string): ExportLine | string {
  let line: Partial<ExportLine>
  try {
    line = Object(JSON.parse(text))
  } catch {
    return `it must be JSON; received ${formatReceived(text)}`
  }
  const isValid = Object.hasOwn(validate, line.type ?? '') ? validate[line.type!] : undefined
  if (!isValid)
    return `line/type must be one of ${Object.keys(validate).join(', ')}; received ${formatReceived(line.type)}`
  if (!isValid(line)) return describeValidationError(isValid.errors!, 'line')
  return findRecordError(line as ExportLine) ?? (line as ExportLine)
}

/** Returns the reason why the source or the value of a record is wrong. */
function findRecordError(line: ExportLine): string | undefined {
  if (line.type !== 'record') return undefined
  if (hasSource(line.kind) !== (line.source !== undefined))
    return `line/source must be ${hasSource(line.kind) ? 'present' : 'absent'} for the kind ${line.kind}`
  const isValid = validateValue[line.kind]
  return !isValid || isValid(line.value) ? undefined : describeValidationError(isValid.errors!, 'line/value')
}
