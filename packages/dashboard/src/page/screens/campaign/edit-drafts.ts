import type { CampaignFields, FieldName } from '../../core/merge-edit.ts'

export type FormTexts = Readonly<Record<FieldName, string>>

/** The version of the campaign that the form was filled with. */
export interface FormBase {
  readonly fields: CampaignFields
  readonly version: string
}

/** The state of a form with unsaved input. */
interface EditDraft {
  readonly base: FormBase
  readonly texts: FormTexts
}

/** Drafts by campaign id: unsaved input survives a change of the screen and a new sign-in. */
export const drafts = new Map<string, EditDraft>()

export const hasEditDraft = (id: string): boolean => drafts.has(id)
export const discardEdit = (id: string): void => void drafts.delete(id)
