import { cpSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'

const FIXTURE_FOLDER = fileURLToPath(new URL('../fixtures/format-1', import.meta.url))

/** Entries that the old service wrote into the folder of format 1: values of any kind under keys of any kind. */
export const OLD_ENTRIES: ReadonlyMap<string, Buffer> = new Map([
  ...Array.from({ length: 300 }, (_, i) => [`k${i}`, Buffer.from(`value ${i} `.repeat(i % 20))] as const),
  ['bytes', Buffer.from([0xff, 0xfd, 0])],
  ['ключ\0🎈', Buffer.from('\ufeffтекст\0')],
  ['letters', Buffer.alloc(20_000, 'x')],
  ['\u{10ffff}'.repeat(256), Buffer.from('under the last key of all')],
])

/** Copies a folder of format 1: half of its data is in a table, half in a log. */
export function copyOldDatabase(): string {
  const folder = createTemporaryFolder()
  cpSync(FIXTURE_FOLDER, folder, { recursive: true })
  return folder
}
