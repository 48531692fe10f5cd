import type { CollectionRow } from '@influencer-stats/stats/client'

/** The fields of a campaign that its form edits. An absent field is null; `tags` is then an empty list. */
export interface CampaignFields {
  readonly name: string | null
  readonly tags: readonly string[]
  readonly from: string | null
  readonly to: string | null
  readonly cost: number | null
  readonly currency: string | null
}

export type FieldName = keyof CampaignFields

/** An amount has a meaning only together with its currency: a change of one conflicts with a change of the other. */
const FIELD_GROUPS: readonly (readonly FieldName[])[] = [['name'], ['tags'], ['from'], ['to'], ['cost', 'currency']]

export const toFields = ({ name, tags, from, to, cost, currency }: CollectionRow): CampaignFields => ({
  name: name ?? null,
  tags: tags ?? [],
  from: from ?? null,
  to: to ?? null,
  cost: cost ?? null,
  currency: currency ?? null,
})

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/** Returns the fields of `to` that differ from those of `from`. */
export function findChangedFields(from: CampaignFields, to: CampaignFields): Partial<CampaignFields> {
  const names = Object.keys(from) as FieldName[]
  return Object.fromEntries(names.filter((name) => !isSame(from[name], to[name])).map((name) => [name, to[name]]))
}

export interface MergedEdit {
  /** The newer version with the changes of this user: the fields to show. */
  readonly merged: CampaignFields
  /** The first field of each group that both sides changed, to different values. */
  readonly conflicts: readonly FieldName[]
}

/**
 * Applies the changes of this user to a newer version. If both sides changed a field, `merged` has this user's value.
 * @param base the version with which the form was filled
 * @param local the fields of the form
 * @param remote the newer version
 */
export function mergeEdit(base: CampaignFields, local: CampaignFields, remote: CampaignFields): MergedEdit {
  const [localChanges, remoteChanges] = [findChangedFields(base, local), findChangedFields(base, remote)]
  const conflicts = FIELD_GROUPS.filter(
    (group) =>
      group.some((name) => name in localChanges) &&
      group.some((name) => name in remoteChanges) &&
      group.some((name) => !isSame(local[name], remote[name])),
  )
  const conflicting = Object.fromEntries(conflicts.flat().map((name) => [name, local[name]]))
  return { merged: { ...remote, ...localChanges, ...conflicting }, conflicts: conflicts.map(([first]) => first!) }
}
