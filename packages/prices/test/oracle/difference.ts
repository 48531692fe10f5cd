import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findDifference, type Json } from './json-text.ts'
import { toJson, type Prices } from './model-price.ts'
import { toCurl, type OracleRequest, type OracleResponse } from './oracle-client.ts'

/** A reply that the contract does not allow. */
export class Difference extends Error {}

/** Writes the prices of the model in the order in which they were added. @returns the path of the file */
function writeCatalog(prices: Prices): string {
  const path = join(mkdtempSync(join(tmpdir(), 'prices-oracle-')), 'catalog.ndjson')
  writeFileSync(path, [...prices.values()].map((price) => `${JSON.stringify(toJson(price))}\n`).join(''))
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
  const lines = [
    `difference: ${why}`,
    `  expected: ${JSON.stringify(expected)}`,
    `  received: ${status} ${text}`,
    `  with: curl "$S/prices/import?replace=true&empty=true" -H 'content-type: application/x-ndjson' --data-binary @${writeCatalog(prices)}`,
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
