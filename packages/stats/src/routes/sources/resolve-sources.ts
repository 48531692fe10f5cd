import { commonErrors } from '@influencer-stats/runtime/errors'
import { formatReceived } from '@influencer-stats/runtime/received-value'
import type { Collections } from '../../campaigns/collections.ts'
import type { CampaignSource } from '../../core/campaign.ts'
import { parseSourceName, type SourceName } from '../../core/follow/source-name.ts'
import { errors } from '../../errors.ts'

/** A source as a client sends it. */
export interface RequestedSource extends Omit<CampaignSource, 'type'> {
  readonly type?: CampaignSource['type']
}

/** See `SourceLookup`. */
export type FindSource = (source: SourceName) => Promise<CampaignSource | undefined>

/**
 * Returns sources with their ids and titles. Only handles, user names, and ids that the collection does not have and that
 * come without a title are looked up.
 * @throws Problem `VALIDATION_FAILED` for a text that names no channel and no playlist, `SOURCE_NOT_FOUND`,
 * `UPSTREAM_UNAVAILABLE`
 */
export async function resolveSources(
  id: string,
  sources: readonly RequestedSource[],
  { state }: Pick<Collections, 'state'>,
  findSource: FindSource,
): Promise<CampaignSource[]> {
  const names = sources.map((source, i) => requireName(source, `body/sources/${i}/id`))
  const known = sources.length > 0 ? ((await state.get(id))?.sources ?? []) : []
  const resolved: CampaignSource[] = []
  for (const [i, source] of sources.entries()) {
    const { type, name, nameKind } = names[i]!
    const stored = nameKind === 'id' ? known.find((one) => one.id === name) : undefined
    const title = source.title ?? stored?.title
    if (nameKind === 'id' && (title !== undefined || stored)) {
      resolved.push({ ...source, type, id: name, ...(title !== undefined && { title }) })
      continue
    }
    const found = await findSource(names[i]!)
    if (!found) throw errors.SOURCE_NOT_FOUND(`YouTube has no ${type} ${formatReceived(source.id)}`)
    resolved.push({ ...source, ...found })
  }
  return resolved
}

function requireName({ id, type }: RequestedSource, where: string): SourceName {
  const name = parseSourceName(id, type)
  if (name) return name
  throw commonErrors.VALIDATION_FAILED(
    `${where} must be the id, the handle such as @GoogleDevelopers, or the link of a channel or a playlist; received ` +
      formatReceived(id),
  )
}
