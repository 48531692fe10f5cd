import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Overwrites some bytes in the middle of each LevelDB table, which damages one block. */
export function damageTables(folder: string): void {
  for (const name of readdirSync(folder).filter((one) => /\.(ldb|sst)$/.test(one))) {
    const bytes = readFileSync(join(folder, name))
    bytes.fill(0xab, bytes.length >> 1, (bytes.length >> 1) + 50)
    writeFileSync(join(folder, name), bytes)
  }
}
