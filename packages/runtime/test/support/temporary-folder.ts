import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onFileFinished } from './on-file-finished.ts'

/** Creates a folder that is removed after the tests of the file. */
export function createTemporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'influencer-stats-'))
  onFileFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
