import type { PasteRefusal } from '../paste/content-link.ts'
import type { SheetRow } from '../csv/delimited-text.ts'
import { cutText } from '../paste/paste-item.ts'
import { findContents, findSheet, toSheet, type Sheet } from '../paste/read-sheet.ts'
import { findSheetDayOrder, readRowValues, type InvalidCell, type RowValues } from '../paste/row-values.ts'
import { CampaignDraft, type ImportedCampaign, type RowRefusal } from './campaign-draft.ts'

/** A row that is not imported. */
export interface RefusedRow {
  readonly line: number
  /** At most 200 characters. */
  readonly text: string
  readonly reason: PasteRefusal | RowRefusal
}

export interface CampaignFile {
  readonly campaigns: readonly ImportedCampaign[]
  readonly refused: readonly RefusedRow[]
  /** Values that are not valid. Their rows are imported without them. */
  readonly invalid: readonly InvalidCell[]
  /** Headings that are not known. Their columns are ignored. */
  readonly unknownHeadings: readonly string[]
}

/** Reads campaigns from CSV with any delimiter, or from cells of a spreadsheet. Undefined if there are no known headings. */
export const readCampaignsCsv = (text: string): CampaignFile | undefined => readSheetCampaigns(findSheet(text))
export const readCampaignRows = (rows: Iterable<SheetRow>): CampaignFile | undefined =>
  readSheetCampaigns(toSheet(rows))

/** German types, and those of hand-made files. */
const TYPE_NAMES: Readonly<Record<string, string>> = {
  kampagne: 'campaign',
  kanal: 'source',
  channel: 'source',
  playlist: 'source',
  quelle: 'source',
  entfernt: 'removed',
  beitrag: 'post',
  influencer: 'creator',
  zahlen: 'numbers',
}

/**
 * Rows of one campaign have its id, or else its name. A row without both belongs to the campaign of the row above. An
 * export has types of rows; in other files each row has a link, with the values of the campaign beside it.
 */
function readSheetCampaigns(sheet: Sheet | undefined): CampaignFile | undefined {
  if (!sheet) return undefined
  const { columns, rows } = sheet
  const isExport = ['id', 'type', 'post'].every((field) => columns.fields.some((one) => one === field))
  const options = { columns, dayOrder: findSheetDayOrder(columns, rows), isPlain: isExport }
  const drafts = new Map<string, CampaignDraft>()
  const refused: RefusedRow[] = []
  const invalid: InvalidCell[] = []
  let last: CampaignDraft | undefined
  for (const row of rows) {
    const { invalid: invalidCells = [], ...values } = readRowValues(row, options)
    invalid.push(...invalidCells)
    const draft = findDraft(drafts, values, row.line, last)
    last = draft
    const refuse = (reason: RefusedRow['reason'], text = formatRow(row)) =>
      refused.push({ line: row.line, text: cutText(text), reason })
    const type = values.type === undefined ? undefined : (TYPE_NAMES[values.type] ?? values.type)
    if (type === 'campaign') draft.addProperties(values)
    else if (type === 'creator') draft.addFee(values, row.line)
    else if (type === 'numbers') {
      if (!draft.addReport(values)) refuse('NO_LINK')
    } else addLinks(draft, row, sheet, values, isExport ? type : undefined, refuse)
  }
  const campaigns = [...drafts.values()].map((draft) => draft.finish(invalid))
  return { campaigns, refused, invalid, unknownHeadings: columns.unknown }
}

function findDraft(
  drafts: Map<string, CampaignDraft>,
  { id, name }: RowValues,
  line: number,
  last: CampaignDraft | undefined,
): CampaignDraft {
  if (id === undefined && name === undefined && last) return last
  const key = id === undefined ? `name ${name}` : `id ${id}`
  let draft = drafts.get(key)
  if (!draft) drafts.set(key, (draft = new CampaignDraft(line, id)))
  return draft
}

/** Adds the links of a row. In an export the type of the row tells what they are. */
function addLinks(
  draft: CampaignDraft,
  row: SheetRow,
  { columns }: Sheet,
  values: RowValues,
  type: string | undefined,
  refuse: (reason: RefusedRow['reason'], text?: string) => void,
): void {
  const contents = findContents(row, columns)
  if (type === undefined) draft.addProperties(values)
  for (const { text, content } of contents) {
    const reason = 'reason' in content ? content.reason : draft.addLink(content, values, type)
    if (reason) refuse(reason, text || formatRow(row))
  }
  if (type === undefined) draft.addFee(values, row.line, contents)
}

const formatRow = ({ cells }: SheetRow): string => cells.map(String).filter(Boolean).join(' ')
