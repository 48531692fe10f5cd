import { readFileSync } from 'node:fs'

const { name, version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))

/** Reply of `GET /version`. */
export const VERSION: Readonly<{ name: string; version: string; node: string }> = {
  name,
  version,
  node: process.version,
}
