import { closedObject } from '@influencer-stats/runtime/closed-object'
import { createValidator } from '@influencer-stats/runtime/validation'
import { describeValidationError } from '@influencer-stats/runtime/validation-errors'
import type { CampaignContent } from '../../core/campaign-file/campaign-content.ts'
import { XLSX_MEDIA_TYPE } from '../../core/campaign-file/file-format.ts'
import { numbersBody, postBody, postParams } from '../posts/post-schemas.ts'
import { collectionBody, collectionReply, newCollectionParams } from '../collection-schemas.ts'

const text = { type: 'string' } as const
const count = { type: 'integer', minimum: 0 } as const
const line = { type: 'integer', minimum: 1, description: 'Line of the file, from 1.' } as const

const { followed, refused } = collectionReply.properties
const { id } = newCollectionParams.properties
const { at, ...counts } = numbersBody.properties
const fileNumbers = closedObject({ ...counts, at })
const filePost = closedObject(
  {
    ...postBody.properties,
    id: postParams.properties.post,
    numbers: fileNumbers,
    reports: { type: 'array', items: fileNumbers },
  },
  { required: ['id', 'url', 'platform'] },
)
const importedCampaign = closedObject(
  { ...collectionBody.properties, id, followed, refused, posts: { type: 'array', items: filePost } },
  { required: ['id', 'videos'] },
)
const isValid = createValidator(importedCampaign, 'body')

/** Returns the reason why a campaign of a file is not valid, as for a PUT. */
export const validateCampaign = (content: CampaignContent): string | undefined =>
  isValid(content) ? undefined : describeValidationError(isValid.errors!, 'campaign')

const campaignResult = closedObject(
  {
    line,
    id,
    name: text,
    state: {
      type: 'string',
      enum: ['new', 'changed', 'unchanged', 'refused'],
      description: 'In a dry run, what an import would do.',
    },
    videos: { ...count, description: 'Number of videos after the import.' },
    added: count,
    removed: count,
    posts: { ...count, description: 'Number of posts of other platforms that are added or changed.' },
    code: { ...text, description: 'Error code of a refused campaign.' },
    detail: text,
  },
  { title: 'Campaign result', required: ['line', 'id', 'state', 'videos', 'added', 'removed', 'posts'] },
)

const refusedRow = closedObject(
  {
    line,
    text: { ...text, description: 'At most 200 characters.' },
    reason: {
      ...text,
      description:
        'As in a preview, or: `DUPLICATE` (an earlier row has it), `OTHER_TYPE` (not what the type of the row states), ' +
        '`CHANNEL_NOT_FOUND` (YouTube has no such channel), `CHANNEL_WITHOUT_ID` (a channel to follow could not be looked up: ' +
        'its link needs the id).',
    },
  },
  { title: 'Refused row', required: ['line', 'text', 'reason'] },
)

const invalidCell = closedObject(
  { line, field: text, text },
  { title: 'Invalid cell', required: ['line', 'field', 'text'] },
)

export const importReply = closedObject(
  {
    dryRun: { type: 'boolean' },
    campaigns: { type: 'array', items: campaignResult },
    refused: { type: 'array', items: refusedRow, description: 'Rows that are not imported.' },
    invalid: { type: 'array', items: invalidCell, description: 'Values without which their rows are imported.' },
    unknownHeadings: { type: 'array', items: text, description: 'Headings whose columns are ignored.' },
  },
  {
    title: 'Import of campaigns',
    required: ['dryRun', 'campaigns', 'refused', 'invalid', 'unknownHeadings'],
    examples: [
      {
        dryRun: true,
        campaigns: [{ line: 2, id: 'spring', name: 'Spring', state: 'new', videos: 1, added: 1, removed: 0, posts: 0 }],
        refused: [{ line: 3, text: 'https://vimeo.com/1', reason: 'UNSUPPORTED_HOST' }],
        invalid: [],
        unknownHeadings: [],
      },
    ],
  },
)

const EXAMPLE_FILE = 'Campaign,Link,Creator,Fee,Currency\r\nSpring,https://youtu.be/-4lB5EKS5Uk,Anna,900,EUR\r\n'

export const importBody = {
  content: {
    'text/csv': { schema: { ...text, examples: [EXAMPLE_FILE] } },
    [XLSX_MEDIA_TYPE]: { schema: { ...text, format: 'binary' } },
  },
}

export const exportContent = {
  description: 'The file.',
  content: { 'text/csv': { schema: text }, [XLSX_MEDIA_TYPE]: { schema: { ...text, format: 'binary' } } },
}
