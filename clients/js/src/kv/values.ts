/** Stored bytes, and their text. */
export interface KvBytes {
  readonly value: Uint8Array
  /** The value as UTF-8. */
  readonly text: string
  /** Expiry time (ms since 1970); absent if the value does not expire. */
  readonly expiresAt?: number | undefined
}

/** A value and its ETag, for conditional writes. Every write changes the ETag, even with the same bytes. */
export interface KvValue extends KvBytes {
  readonly etag: string
}

/** A value and its key. */
export interface KvEntry extends KvBytes {
  readonly id: string
}

/** Adds the getter `text` to an object. */
export function withText<T extends { readonly value: Uint8Array }>(fields: T): T & { readonly text: string } {
  return Object.defineProperty(fields, 'text', {
    get: () => new TextDecoder().decode(fields.value),
  }) as T & { readonly text: string }
}

/** The line of an entry, of a found value, or of a change. */
export interface EntryLine {
  readonly op?: 'put' | 'delete' | 'expire'
  readonly id: string
  readonly found?: boolean
  readonly etag?: string
  readonly value?: string
  readonly valueBase64?: string
  readonly expiresAt?: number | null
}

/** Returns the bytes of a line, and its expiry if it has one. */
export function parseBytes({ value, valueBase64, expiresAt }: EntryLine) {
  const bytes =
    value === undefined
      ? Uint8Array.from(atob(valueBase64 ?? ''), (character) => character.charCodeAt(0))
      : new TextEncoder().encode(value)
  return { value: bytes, ...(typeof expiresAt === 'number' && { expiresAt }) }
}

const CHUNK_BYTES = 0x8000
// A byte order mark is part of a value.
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Returns the field of a line with a value: text, or base64 if the bytes are not UTF-8. */
export function toValueField(value: string | Uint8Array): { value: string } | { valueBase64: string } {
  if (typeof value === 'string') return { value }
  try {
    return { value: strictUtf8.decode(value) }
  } catch {
    let binary = ''
    // More arguments would overflow the stack.
    for (let at = 0; at < value.length; at += CHUNK_BYTES) {
      binary += String.fromCharCode(...value.subarray(at, at + CHUNK_BYTES))
    }
    return { valueBase64: btoa(binary) }
  }
}
