import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findDifference, type Json } from './json-text.ts'
import { toJson, type Prices } from './model-price.ts'
import { toCurl, type OracleRequest, type OracleResponse } from './oracle-client.ts'

/** A reply that the contract does not allow. */
export class Difference extends Error {}

/** Writes lines to a file in a new folder, which stays for the person that looks for the reason. @returns its path */
export function writeLines(name: string, lines: readonly string[]): string {
  const path = join(mkdtempSync(join(tmpdir(), 'prices-oracle-')), name)
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''))
  return path
}

/** @throws Difference with the commands that repeat the request */
export function reportDifference(
  request: OracleRequest,
  { status, text }: OracleResponse,
  prices: Prices,
  expected: Json,
  why: string,
): never {
  // In the order in which they were added.
  const catalog = [...prices.values()].map((price) => JSON.stringify(toJson(price)))
  const lines = [
    `difference: ${why}`,
    `  expected: ${JSON.stringify(expected)}`,
    `  received: ${status} ${text}`,
    `  with: curl "$S/prices/import?replace=true&empty=true" -H 'content-type: application/x-ndjson' --data-binary @${writeLines('catalog.ndjson', catalog)}`,
    `  then: ${toCurl(request)}`,
  ]
  throw new Difference(lines.join('\n'))
}

/** Checks a reply. @param received the parts of the reply that the contract describes */
export function expectSame(
  request: OracleRequest,
  reply: OracleResponse,
  prices: Prices,
  { expected, received }: { readonly expected: Json; readonly received: Json },
): void {
  const path = findDifference(expected, received)
  if (path !== undefined) reportDifference(request, reply, prices, expected, `at ${path}`)
}
