import { parentPort, workerData } from 'node:worker_threads'
import { readCampaignRows, readCampaignsCsv } from '../core/campaign-file/read-campaigns.ts'
import { isXlsx } from '../core/campaign-file/file-format.ts'
import type { CampaignFileReading } from './campaign-file.ts'
import { readXlsx } from './xlsx.ts'
import { SheetFileError } from './zip-limits.ts'

/** Reads one file of campaigns: the thread ends with its result. */
async function read(bytes: Uint8Array): Promise<CampaignFileReading> {
  try {
    const file = isXlsx(bytes)
      ? readCampaignRows(await readXlsx(bytes))
      : readCampaignsCsv(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return file ? { file } : { refusal: 'INVALID_FILE', detail: 'must have headings such as Campaign, Link' }
  } catch (error) {
    if (error instanceof SheetFileError) return { refusal: error.code, detail: error.message }
    if (error instanceof TypeError && 'code' in error && error.code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
      return { refusal: 'INVALID_FILE', detail: 'must be CSV in UTF-8, or an XLSX file' }
    throw error
  }
}

parentPort!.postMessage(await read(workerData as Uint8Array))
