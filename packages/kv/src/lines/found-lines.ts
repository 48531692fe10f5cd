import { toExpiryField, quoteInLine, toValueField } from '../core/change-lines.ts'
import { getEtag, getValue, type StoredValue } from '../core/stored-value.ts'

/** Renders a key that has a value as a line of NDJSON. */
export const toFoundLine = (id: string, stored: StoredValue, expiresAt: number | undefined): string =>
  `{"id":${quoteInLine(id)},"found":true,"etag":${JSON.stringify(getEtag(stored))},` +
  `${toValueField(getValue(stored))}${toExpiryField(expiresAt)}}\n`

/** Renders a key without a value as a line of NDJSON. */
export const toMissingLine = (id: string): string => `{"id":${quoteInLine(id)},"found":false}\n`
