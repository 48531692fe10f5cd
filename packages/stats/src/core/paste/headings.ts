import { parseCurrency } from './amounts.ts'
import type { SheetRow } from '../csv/delimited-text.ts'

/** Columns that are read. Of several columns with the same field the first counts; links may have several columns. */
const HEADINGS = {
  id: 'campaign id|kampagnen id|kampagne id',
  name: 'campaign|campaign name|name|kampagne|kampagnenname|projekt|project',
  type: 'type|typ|art',
  link:
    'link|links|url|urls|video|videos|video link|video links|video url|videolink|videolinks|content|content link|inhalt|' +
    'post|posts|post link|post url|beitrag|beiträge|beitragslink|link zum video|link zum beitrag|youtube|youtube link|' +
    'youtube url|tiktok|tiktok link|instagram|instagram link|twitch|facebook|linkedin|adresse|webadresse|live link|' +
    'publication link|deliverable|video id|youtube id',
  title: 'title|titel|video title|videotitel|description|beschreibung',
  creator:
    'creator|creators|creator name|influencer|influencers|influencer name|channel|channel name|kanal|kanalname|' +
    'youtuber|talent|account|handle|profil|profile|künstler|name des creators|name des influencers',
  fee:
    'fee|fees|creator fee|influencer fee|honorar|honorare|gage|vergütung|bezahlung|payment|price|preis|rate card|' +
    'compensation|amount|betrag|fee net|honorar netto',
  cost: 'cost|costs|total cost|campaign cost|kosten|gesamtkosten|budget',
  currency: 'currency|währung',
  from: 'from|start|start date|starts|begin|beginn|von|ab|startdatum|anfang|campaign start|kampagnenstart',
  to: 'to|until|end|end date|ends|bis|ende|enddatum|campaign end|kampagnenende',
  published:
    'date|datum|published|publication date|posting date|post date|live date|go live|upload date|veröffentlicht|' +
    'veröffentlichung|veröffentlichungsdatum|posted',
  tags: 'tags|tag|labels|label|schlagwörter|schlagworte|stichwörter|kategorie|kategorien|category|categories|hashtags',
  archived: 'archived|archiviert',
  source: 'source id|quellen id|quelle id',
  contains: 'contains|enthält',
  post: 'post id|beitrags id',
  views: 'views|aufrufe|impressions|impressionen|plays|view count',
  likes: 'likes|gefällt mir|like count',
  comments: 'comments|kommentare|comment count',
  shares: 'shares|geteilt|reposts|retweets',
  saves: 'saves|saved|gespeichert|bookmarks',
  reportedAt: 'at|reported at|numbers as of|stand|zahlen vom|erfasst am',
  note: 'note|notes|notiz|notizen|anmerkung|anmerkungen|bemerkung|bemerkungen|kommentar',
  /** Computed columns of an export. They are known, and not read. */
  computed: 'platform|plattform|engagements|engagement rate|cost per 1000 views|cost per engagement|as of|state',
} as const

export type SheetField = keyof typeof HEADINGS

const FIELDS: ReadonlyMap<string, SheetField> = new Map(
  Object.entries(HEADINGS).flatMap(([field, names]) => names.split('|').map((name) => [name, field as SheetField])),
)

export interface SheetColumns {
  /** Field of each column; undefined for an unknown heading. */
  readonly fields: readonly (SheetField | undefined)[]
  /** Headings that are not known. Their columns are ignored. */
  readonly unknown: readonly string[]
  /** Currency that a heading states, as in `Fee (EUR)`. */
  readonly currency?: string
}

const MAX_HEADING_LENGTH = 60

/** Returns the columns of a row of headings: at least two known ones, or `Link` alone. Undefined for another row. */
export function readHeadings({ cells }: SheetRow): SheetColumns | undefined {
  const names = cells.map((cell) => String(cell).replace(/\s+/g, ' ').trim())
  if (names.some((name) => name.length > 2 * MAX_HEADING_LENGTH || name.includes('://'))) return undefined
  const fields: (SheetField | undefined)[] = []
  const unknown: string[] = []
  let currency: string | undefined
  for (const name of names) {
    const heading = name.length > MAX_HEADING_LENGTH ? undefined : parseHeading(name)
    const field = heading && FIELDS.get(heading.name)
    const isRepeated = field !== undefined && field !== 'link' && field !== 'computed' && fields.includes(field)
    fields.push(isRepeated ? undefined : field)
    if (name !== '' && (field === undefined || isRepeated)) unknown.push(name)
    currency ??= heading?.currency
  }
  const known = fields.filter(Boolean).length
  const filled = names.filter(Boolean).length
  if (known < 2 && !(filled === 1 && fields.includes('link'))) return undefined
  return { fields: withFees(fields), unknown, ...(currency && { currency }) }
}

/** The costs of rows with a creator and without a type are fees. */
function withFees(fields: readonly (SheetField | undefined)[]) {
  const hasFees = fields.includes('fee') || fields.includes('type') || !fields.includes('creator')
  return hasFees ? fields : fields.map((field) => (field === 'cost' ? 'fee' : field))
}

/** Splits `Fee (EUR):` into a name in lower case and a currency. */
function parseHeading(text: string): { readonly name: string; readonly currency?: string } {
  const plain = text.replace(/\p{Cf}/gu, '').replace(/[*:.?]/g, '')
  const bracket = /[([]([^)\]]{1,20})[)\]] ?$/.exec(plain) ?? / (?:in |, ?|\/ ?)?(\S{1,4}) ?$/.exec(plain)
  const currency = bracket ? parseCurrency(bracket[1]!) : undefined
  const base = bracket && (currency || plain[bracket.index] !== ' ') ? plain.slice(0, bracket.index) : plain
  const name = base
    .toLowerCase()
    .replace(/[\s_,/-]+/g, ' ')
    .trim()
  return { name, ...(currency && { currency }) }
}
