import type { BulkChange, BulkResult } from '@influencer-stats/stats/client'
import { stats } from './api.ts'
import { getSentence } from './core/error-sentences.ts'
import { reportDone } from './done-changes.ts'
import { text } from './texts/texts.ts'

/** Maximum number of campaigns of a request. */
const MAX_IDS = 500

/** The texts of the changes of many campaigns. */
type BulkText = 'bulk.tagged' | 'bulk.untagged' | 'bulk.archived' | 'bulk.unarchived' | 'bulk.deleted' | 'bulk.restored'

/** A change of many campaigns, with its text and the change that undoes it. */
export interface BulkAction {
  readonly change: BulkChange
  readonly undo: BulkChange
  readonly done: BulkText
  readonly undone: BulkText
}

export const ARCHIVE: BulkAction = {
  change: { archived: true },
  undo: { archived: false },
  done: 'bulk.archived',
  undone: 'bulk.unarchived',
}
export const UNARCHIVE: BulkAction = {
  change: ARCHIVE.undo,
  undo: ARCHIVE.change,
  done: 'bulk.unarchived',
  undone: 'bulk.archived',
}
export const DELETE: BulkAction = {
  change: { deleted: true },
  undo: { restored: true },
  done: 'bulk.deleted',
  undone: 'bulk.restored',
}
export const toTagAction = (tag: string): BulkAction => ({
  change: { addTags: [tag] },
  undo: { removeTags: [tag] },
  done: 'bulk.tagged',
  undone: 'bulk.untagged',
})

/**
 * Changes campaigns, and offers to undo the changes that were made.
 * @param versions required version of a campaign, by its id
 * @returns true if no change was refused
 * @throws ServiceError if nothing was changed because a service is unavailable
 */
export async function changeMany(
  { change, undo, done, undone }: BulkAction,
  ids: readonly string[],
  versions: Readonly<Record<string, string>> = {},
): Promise<boolean> {
  const results = await sendChange(change, ids, versions)
  const changed = results.filter((result) => result.changed).map(({ id }) => id)
  const refused = results.filter(({ code }) => code !== undefined)
  const failure = refused.length > 0 && { count: refused.length, reason: getSentence(refused[0]!.code!) }
  const made = text(done, { count: changed.length })
  const summary =
    failure === false
      ? made
      : changed.length > 0
        ? text('bulk.partly', { made, ...failure })
        : text('bulk.none', failure)
  const reverse: BulkAction = { change: undo, undo: change, done: undone, undone: done }
  reportDone(summary, changed.length > 0 ? () => changeMany(reverse, changed) : undefined)
  return failure === false
}

async function sendChange(
  change: BulkChange,
  ids: readonly string[],
  versions: Readonly<Record<string, string>>,
): Promise<BulkResult[]> {
  const results: BulkResult[] = []
  for (let i = 0; i < ids.length; i += MAX_IDS) {
    const some = ids.slice(i, i + MAX_IDS)
    const known = some.flatMap((id) => (versions[id] === undefined ? [] : [[id, versions[id]] as const]))
    results.push(...(await stats.bulk(some, change, Object.fromEntries(known))))
  }
  return results
}
