import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Contents of `format.json` without its checksum, which later versions verify. */
export function readFormatFile(folder: string): { service: string; format: number; from?: number } {
  const { sum: _sum, ...format } = JSON.parse(readFileSync(join(folder, 'format.json'), 'utf8'))
  return format
}
