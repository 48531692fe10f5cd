import { StartError } from '@influencer-stats/runtime/errors'
import type { SharedLevel } from '@influencer-stats/runtime/shared-level'

export const REMEDY = 'restore a backup (pnpm restore), or move the folder, which ends all links and sessions'

/**
 * Reads the rows whose keys are `prefix` and an id.
 * @param parse returns undefined if the text is damaged
 * @returns the values by their ids
 * @throws StartError `DATA_DAMAGED`
 */
export async function readRows<T extends { readonly id: string }>(
  level: SharedLevel,
  folder: string,
  prefix: string,
  parse: (text: string) => T | undefined,
): Promise<Map<string, T>> {
  const rows = new Map<string, T>()
  for await (const [key, text] of level.db.iterator({ gt: prefix, lt: `${prefix}\uffff` })) {
    const row = parse(text)
    if (!row || prefix + row.id !== key)
      throw new StartError('DATA_DAMAGED', `dashboard: row ${key} of the database in ${folder} is damaged: ${REMEDY}`)
    rows.set(row.id, row)
  }
  return rows
}
