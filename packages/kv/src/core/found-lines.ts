import { expiryField, quoteInLine, valueField } from './lines.ts'
import { etagOf, valueOf, type Stored } from './stored.ts'

/** Renders a value that was found as a line of NDJSON. */
export const foundLine = (id: string, stored: Stored, expiresAt: number | undefined): string =>
  `{"id":${quoteInLine(id)},"found":true,"etag":${JSON.stringify(etagOf(stored))},` +
  `${valueField(valueOf(stored))}${expiryField(expiresAt)}}\n`

/** Renders a key without a value as a line of NDJSON. */
export const missingLine = (id: string): string => `{"id":${quoteInLine(id)},"found":false}\n`
