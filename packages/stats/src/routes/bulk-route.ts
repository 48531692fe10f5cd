import { closedObject } from '@influencer-stats/runtime/closed-object'
import type { App } from '@influencer-stats/runtime/http'
import { buildChangeReplies } from '@influencer-stats/runtime/problem-schemas'
import { changeCollections } from '../campaigns/bulk-change.ts'
import type { Collections } from '../campaigns/collections.ts'
import { getVersion } from '../core/campaign.ts'
import { COLLECTION_ID_PATTERN } from '../core/ids.ts'
import { changeFaults } from './collection-routes.ts'
import { id, newTags, version } from './collection-schemas.ts'

/** Maximum number of collections of a request. */
const MAX_IDS = 500

const yes = { type: 'boolean', enum: [true] } as const

const edit = closedObject(
  {
    addTags: { ...newTags, description: 'Tags to add.' },
    removeTags: { ...newTags, description: 'Tags to remove.' },
    archived: { type: 'boolean', description: 'True to move the collections to the archive, false to take them out.' },
  },
  { title: 'Edit of collections', minProperties: 1 },
)
const deletion = closedObject(
  { deleted: { ...yes, description: 'Moves the collections to the trash.' } },
  { title: 'Deletion of collections', required: ['deleted'] },
)
const restoration = closedObject(
  { restored: { ...yes, description: 'Restores the collections from the trash.' } },
  { title: 'Restoration of collections', required: ['restored'] },
)

const bulkBody = closedObject(
  {
    ids: { type: 'array', minItems: 1, maxItems: MAX_IDS, uniqueItems: true, items: id },
    change: { anyOf: [edit, deletion, restoration] },
    versions: {
      type: 'object',
      description: 'Required `version` of a collection, by its id: the collection changes only if it still has it.',
      propertyNames: { pattern: COLLECTION_ID_PATTERN },
      additionalProperties: version,
    },
  },
  {
    title: 'Bulk change',
    required: ['ids', 'change'],
    examples: [
      { ids: id.examples, change: { addTags: ['spring'], archived: true } },
      { ids: id.examples, change: { deleted: true }, versions: { [id.examples[0]]: version.examples[0] } },
    ],
  },
)

const bulkReply = closedObject(
  {
    results: {
      type: 'array',
      items: closedObject(
        {
          id,
          changed: { type: 'boolean', description: 'False if there was nothing to do, or the change was refused.' },
          version: { ...version, description: 'Version after the change. Absent after a deletion and a refusal.' },
          code: { type: 'string', description: 'Code of the refusal, as that of a change of this collection alone.' },
          detail: { type: 'string', description: 'Detail of the refusal.' },
        },
        { title: 'Bulk result', required: ['id', 'changed'] },
      ),
    },
  },
  {
    title: 'Bulk results',
    required: ['results'],
    examples: [{ results: [{ id: id.examples[0], changed: true, version: version.examples[0] }] }],
  },
)

/** Registers the route that makes the same change of many collections. */
export function registerBulkRoute(app: App, collections: Collections): void {
  app.post(
    '/campaigns/bulk',
    {
      schema: {
        tags: ['collections'],
        operationId: 'changeCollections',
        summary: 'Make the same change of many collections',
        description:
          'Each collection changes completely or not at all, independently of the others. `results` has an entry for each ' +
          'id, in the order of `ids`. If the store is unavailable and nothing was changed, the reply is that error.',
        body: bulkBody,
        response: { 200: bulkReply, ...buildChangeReplies(...changeFaults) },
      },
    },
    async (request) => {
      const { ids, change, versions = {} } = request.body
      const etags = new Map(
        Object.entries(versions as Record<string, string>).map(([one, value]) => [one, `"${value}"`]),
      )
      const results = await changeCollections(collections, ids, change, etags)
      const changed = results.filter((result) => result.changed).map((result) => result.id)
      if (changed.length > 0 && 'deleted' in change) request.audit = { change: 'delete', what: changed.join(' ') }
      return {
        results: results.map(({ revision, problem, ...result }) => ({
          ...result,
          ...(revision !== undefined && { version: getVersion({ revision }) }),
          ...(problem && { code: problem.code, detail: problem.detail ?? problem.title }),
        })),
      }
    },
  )
}
