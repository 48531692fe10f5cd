import type { Campaign, CampaignSource } from '../campaign.ts'
import type { ChannelLink, PostLink } from '../paste/content-link.ts'
import type { WordContent } from '../paste/read-word.ts'
import type { InvalidCell, PostCounts, RowValues } from '../paste/row-values.ts'
import type { CampaignContent, CampaignPost, PostReport } from './campaign-content.ts'

/** Why a row of a file of campaigns is refused, apart from its link. */
export type RowRefusal =
  /** The campaign has the same video, source or post in an earlier row. */
  | 'DUPLICATE'
  /** The link is one of another type than the row. */
  | 'OTHER_TYPE'

/** A campaign of a file. */
export interface ImportedCampaign {
  /** Its first line in the file. */
  readonly line: number
  readonly content: CampaignContent
  /** Videos of `content` by bare ids, which YouTube must know. */
  readonly doubtful?: readonly string[]
  /** Channels to follow whose ids only YouTube knows. */
  readonly channels?: readonly (ChannelLink & { readonly contains?: readonly string[] })[]
}

type AcceptedWord = Extract<WordContent, { readonly link: unknown }>

const COUNTS = ['views', 'likes', 'comments', 'shares', 'saves'] as const satisfies readonly (keyof PostCounts)[]

/** Collects the rows of a campaign. */
export class CampaignDraft {
  readonly #line: number
  readonly #id: string | undefined
  #properties: Campaign = {}
  readonly #tags = new Set<string>()
  #isArchived = false
  readonly #videos = new Set<string>()
  readonly #doubtful = new Set<string>()
  readonly #refused = new Set<string>()
  readonly #followed = new Map<string, string>()
  readonly #sources = new Map<string, CampaignSource>()
  readonly #channels: (ChannelLink & { readonly contains?: readonly string[] })[] = []
  readonly #posts = new Map<string, CampaignPost>()
  readonly #fees = new Map<string, number>()
  /** Fees of rows without a creator, with their lines. */
  readonly #unassigned: { readonly line: number; readonly amount: number }[] = []

  constructor(line: number, id: string | undefined) {
    this.#line = line
    this.#id = id
  }

  /** Adds the properties of the campaign that no earlier row has. Tags are joined. */
  addProperties({ name, tags = [], from, to, cost, currency, archived }: RowValues): void {
    const stated = Object.entries({ name, from, to, cost, currency }).filter(([, value]) => value !== undefined)
    this.#properties = { ...Object.fromEntries(stated), ...this.#properties }
    for (const tag of tags) this.#tags.add(tag)
    this.#isArchived ||= archived === true
  }

  /** Adds a fee to those of its creator, who may be the author of a post. */
  addFee({ fee, creator }: RowValues, line: number, contents: readonly { readonly content: WordContent }[] = []): void {
    if (fee === undefined) return
    const authors = contents.flatMap(({ content }) =>
      'link' in content && content.link.type === 'post' ? (content.link.author ?? []) : [],
    )
    const name = creator ?? authors[0]
    if (name === undefined) this.#unassigned.push({ line, amount: fee })
    else this.#fees.set(name, (this.#fees.get(name) ?? 0) + fee)
  }

  /** @returns why the link is refused */
  addLink({ link, isDoubtful }: AcceptedWord, values: RowValues, type: string | undefined): RowRefusal | undefined {
    if (type !== undefined && !hasType(type, link.type)) return 'OTHER_TYPE'
    switch (link.type) {
      case 'video':
        if (type === 'removed') return addNew(this.#refused, link.id)
        if (isDoubtful && !this.#videos.has(link.id)) this.#doubtful.add(link.id)
        if (!isDoubtful) this.#doubtful.delete(link.id)
        if (values.source !== undefined) this.#followed.set(link.id, values.source)
        return addNew(this.#videos, link.id)
      case 'post':
        return this.#addPost(link, values, type)
      case 'channel':
      case 'playlist':
        return this.#addSource(link.type, values.source ?? link.id, link, values)
    }
  }

  #addSource(
    type: CampaignSource['type'],
    id: string | undefined,
    link: AcceptedWord['link'],
    { contains, title }: RowValues,
  ): RowRefusal | undefined {
    if (id === undefined) {
      this.#channels.push({ ...(link as ChannelLink), ...(contains && { contains }) })
      return undefined
    }
    if (this.#sources.has(id)) return 'DUPLICATE'
    this.#sources.set(id, { type, id, ...(contains && { contains }), ...(title !== undefined && { title }) })
    return undefined
  }

  #addPost(link: PostLink, values: RowValues, type: string | undefined): RowRefusal | undefined {
    const id = values.post ?? `${link.platform}-${link.id.replace(/[^\w.~-]/g, '-')}`.slice(0, 128)
    if (this.#posts.has(id)) return 'DUPLICATE'
    const { title, published, creator = type === undefined ? link.author : undefined } = values
    const numbers = toReport(values)
    this.#posts.set(id, {
      id,
      platform: link.platform,
      url: link.url,
      ...(creator !== undefined && { creator }),
      ...(title !== undefined && { title }),
      ...(published !== undefined && { published }),
      ...(numbers && { numbers }),
    })
    return undefined
  }

  /** Adds a report to a post of an earlier row. @returns false if there is no such post */
  addReport(values: RowValues): boolean {
    const post = this.#posts.get(values.post ?? '')
    const report = toReport(values)
    if (!post || !report) return false
    this.#posts.set(post.id, { ...post, reports: [...(post.reports ?? []), report] })
    return true
  }

  /**
   * Returns the campaign. Fees without any creator are its cost; those without one of several creators are added to
   * `invalid`.
   */
  finish(invalid: InvalidCell[]): ImportedCampaign {
    const { cost, ...properties } = this.#properties
    const fees = [...this.#fees].map(([creator, amount]) => ({ creator, amount }))
    const isCost = fees.length === 0 && cost === undefined && this.#unassigned.length > 0
    if (!isCost)
      for (const { line, amount } of this.#unassigned) invalid.push({ line, field: 'fee', text: String(amount) })
    // A campaign has either one cost or fees.
    if (cost !== undefined && fees.length > 0) invalid.push({ line: this.#line, field: 'cost', text: String(cost) })
    const content: CampaignContent = {
      ...(this.#id !== undefined && { id: this.#id }),
      ...properties,
      ...(cost !== undefined && fees.length === 0 && { cost }),
      ...(isCost && { cost: this.#unassigned.reduce((sum, { amount }) => sum + amount, 0) }),
      ...(this.#tags.size > 0 && { tags: [...this.#tags] }),
      videos: [...this.#videos],
      ...(fees.length > 0 && { fees }),
      ...(this.#sources.size > 0 && { sources: [...this.#sources.values()] }),
      ...(this.#followed.size > 0 && { followed: Object.fromEntries(this.#followed) }),
      ...(this.#refused.size > 0 && { refused: [...this.#refused] }),
      ...(this.#isArchived && { archived: true }),
      ...(this.#posts.size > 0 && { posts: [...this.#posts.values()] }),
    }
    return {
      line: this.#line,
      content,
      ...(this.#doubtful.size > 0 && { doubtful: [...this.#doubtful] }),
      ...(this.#channels.length > 0 && { channels: this.#channels }),
    }
  }
}

/** Returns the numbers of a row; undefined without counts and time. */
function toReport(values: RowValues): PostReport | undefined {
  const { reportedAt, note } = values
  const counts = COUNTS.filter((name) => values[name] !== undefined).map((name) => [name, values[name]])
  if (counts.length === 0 && reportedAt === undefined) return undefined
  return {
    ...Object.fromEntries(counts),
    ...(reportedAt !== undefined && { at: reportedAt }),
    ...(note !== undefined && { note }),
  }
}

function addNew(set: Set<string>, id: string): RowRefusal | undefined {
  if (set.has(id)) return 'DUPLICATE'
  set.add(id)
  return undefined
}

/** True if a row of a type may have a link of a type. */
function hasType(rowType: string, linkType: AcceptedWord['link']['type']): boolean {
  if (rowType === 'source') return linkType === 'channel' || linkType === 'playlist'
  return rowType === 'removed' ? linkType === 'video' : rowType === linkType
}
