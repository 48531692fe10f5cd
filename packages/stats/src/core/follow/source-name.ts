import { readWord } from '../paste/read-word.ts'
import type { CampaignSource } from '../campaign.ts'

/** A channel or a playlist as a person entered it. */
export interface SourceName {
  readonly type: CampaignSource['type']
  /** The name of a channel is a handle without `@`, or a user name. */
  readonly nameKind: 'id' | 'handle' | 'user'
  readonly name: string
}

const ID = /^[A-Za-z0-9_-]{2,64}$/

/**
 * Returns what the id, the handle or the link of a source names; undefined if it names neither a channel nor a playlist.
 * @param type required for an id in an unusual form
 */
export function parseSourceName(text: string, type?: CampaignSource['type']): SourceName | undefined {
  const content = readWord(text.trim())
  const link = content && 'link' in content ? content.link : undefined
  if (link?.type === 'playlist') return { type: 'playlist', nameKind: 'id', name: link.id }
  if (link?.type === 'channel') {
    if (link.id !== undefined) return { type: 'channel', nameKind: 'id', name: link.id }
    // The handle of a channel is often its custom name, which the API cannot find.
    return { type: 'channel', nameKind: link.nameKind === 'user' ? 'user' : 'handle', name: link.name! }
  }
  return type !== undefined && ID.test(text) ? { type, nameKind: 'id', name: text } : undefined
}
