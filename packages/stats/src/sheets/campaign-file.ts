import { Serial } from '@influencer-stats/runtime/async/serial'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { CampaignFile } from '../core/campaign-file/read-campaigns.ts'
import { SheetFileError, type SheetFileRefusal } from './zip-limits.ts'

/** Maximum heap of the thread that reads a file (MiB). */
const MAX_HEAP_MIB = 512

/** What the thread that reads a file returns. */
export type CampaignFileReading =
  | { readonly file: CampaignFile }
  | { readonly refusal: SheetFileRefusal; readonly detail: string }

const serial = new Serial()

/**
 * Reads a CSV or XLSX file of campaigns. A large file takes seconds, so a thread of its own reads it, one file at a time.
 * @throws {SheetFileError} if the file is not valid or too large
 */
export function readCampaignFile(bytes: Uint8Array): Promise<CampaignFile> {
  return serial.run(async () => {
    const worker = new Worker(new URL('./campaign-file-thread.ts', import.meta.url), {
      workerData: bytes,
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
    })
    try {
      const [reading] = (await once(worker, 'message')) as [CampaignFileReading]
      if ('refusal' in reading) throw new SheetFileError(reading.refusal, reading.detail)
      return reading.file
    } catch (error) {
      if ((error as { code?: string }).code !== 'ERR_WORKER_OUT_OF_MEMORY') throw error
      throw new SheetFileError('FILE_TOO_LARGE', `must take at most ${MAX_HEAP_MIB} MiB to read`, { cause: error })
    } finally {
      await worker.terminate()
    }
  })
}
