import { ignoreErrors, type Requester } from '@influencer-stats/runtime/service-client'
import type { CampaignImportResult } from '../campaigns/import/campaign-import.ts'
import { isXlsx, XLSX_MEDIA_TYPE } from '../core/campaign-file/file-format.ts'
import type { PreviewItem } from '../core/paste/preview.ts'

/** What a pasted text contains. */
export interface PastePreview {
  readonly items: readonly PreviewItem[]
  /** Headings of a sheet whose columns are ignored. */
  readonly unknownHeadings: readonly string[]
  /** True if the text has more than 10,000 items. */
  readonly isCut?: true
}

/** What an import of campaigns did, or would do. */
export interface CampaignsImport extends CampaignImportResult {
  readonly dryRun: boolean
}

/** Methods of a stats client for pasted texts and files. */
export interface FileClient {
  /** Finds the videos, channels, playlists and posts in a text. Bare words are looked up at YouTube. */
  previewPaste(text: string): Promise<PastePreview>
  /** As `previewPaste`, with the state `member` for what the collection contains. */
  previewPasteFor(id: string, text: string): Promise<PastePreview | undefined>
  /**
   * Imports the campaigns of a CSV or XLSX file.
   * @param file text of CSV, or the bytes of a file
   * @param options `dryRun`: nothing is changed
   */
  importCampaigns(
    file: string | Uint8Array<ArrayBuffer>,
    options?: { readonly dryRun?: boolean },
  ): Promise<CampaignsImport>
  /** Returns a file with all campaigns, as a response to read or to store. */
  exportCampaigns(format: 'csv' | 'xlsx'): Promise<Response>
}

/** Creates the methods for pasted texts and files. */
export const createFileClient = (request: Requester): FileClient => ({
  previewPaste: async (text) => (await request('POST', '/preview', { json: { text } })).json() as Promise<PastePreview>,
  async previewPasteFor(id, text) {
    const path = `/collections/${encodeURIComponent(id)}/preview`
    const reply = await ignoreErrors(request('POST', path, { json: { text } }), 'COLLECTION_NOT_FOUND')
    return reply?.json() as Promise<PastePreview | undefined>
  },
  async importCampaigns(body, { dryRun } = {}) {
    const headers = { 'content-type': typeof body !== 'string' && isXlsx(body) ? XLSX_MEDIA_TYPE : 'text/csv' }
    const reply = await request('POST', '/campaigns/import', { body, headers, query: { dryRun } })
    return reply.json() as Promise<CampaignsImport>
  },
  exportCampaigns: (format) => request('GET', '/campaigns/export', { query: { format } }),
})
