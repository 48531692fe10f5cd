import type { FieldMask } from '../core/field-mask.ts'
import type { PageToken } from './page-token.ts'

/** Filter, page and fields of a call. */
export interface ListQuery {
  /** Name of the one filter. */
  readonly filter: string
  /** Values of the filter `id`, in the order of the request, each once; otherwise the value of the other filter. */
  readonly ids: readonly string[]
  /** The parameter `videoId` of `playlistItems.list`. */
  readonly videoId: string | undefined
  readonly maxResults: number
  readonly pageToken: PageToken | undefined
  readonly parts: ReadonlySet<string>
  readonly mask: FieldMask
}
