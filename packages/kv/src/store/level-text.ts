import { isUtf8 } from 'node:buffer'
import type { KvDatabase } from './commit.ts'
import type { StoredValue } from '../core/stored-value.ts'
import { REPLACED_VALUE } from './level-scan.ts'

const AS_TEXT = { keyEncoding: 'utf8', valueEncoding: 'utf8' } as const
const AS_BYTES = { keyEncoding: 'utf8', valueEncoding: 'buffer' } as const

/** Maximum length of a value that is read as a string. A larger one would need one more copy, and use V8's heap. */
const MAX_TEXT_BYTES = 16_384

/**
 * Reads a value as a string if it is text. A random key of 1.5 million then takes 2.5 us, and 3.7 us if key and value
 * are Buffers. The type of the previous value decides which read comes first, so binary values are not read twice.
 */
export function createTextReader(db: KvDatabase): (key: string) => StoredValue | undefined {
  let wasText = true

  return (key) => {
    if (wasText) {
      const text = db.getSync<string, string>(key, AS_TEXT)
      if (text === undefined || (text.length <= MAX_TEXT_BYTES && !text.includes(REPLACED_VALUE))) return text
    }
    const bytes = db.getSync<string, Buffer>(key, AS_BYTES)
    wasText = bytes === undefined || (bytes.length <= MAX_TEXT_BYTES && isUtf8(bytes))
    return bytes
  }
}
