const QUOTE = 34
const BACKSLASH = 92
const OPEN_BRACE = 123
const CLOSE_BRACE = 125

const isSpace = (byte: number) => byte === 32 || byte === 10 || byte === 13 || byte === 9

/** Returns the offset of the first byte that is not white space. */
export function skipSpace(bytes: Buffer, start: number): number {
  let at = start
  while (at < bytes.length && isSpace(bytes[at]!)) at++
  return at
}

/** Finds the ends of JSON objects in bytes that arrive in pieces. It reads each byte once. */
export class ItemScanner {
  #depth = 0
  #inText = false
  #escaped = false

  /**
   * Returns the end of the object that begins at `start` or in an earlier piece; -1 if it continues in the next piece.
   */
  find(bytes: Uint8Array, start: number): number {
    for (let at = start; at < bytes.length; at++) {
      const byte = bytes[at]!
      if (this.#escaped) this.#escaped = false
      else if (this.#inText) {
        if (byte === BACKSLASH) this.#escaped = true
        else if (byte === QUOTE) this.#inText = false
      } else if (byte === QUOTE) this.#inText = true
      else if (byte === OPEN_BRACE) this.#depth++
      else if (byte === CLOSE_BRACE && --this.#depth === 0) return at + 1
    }
    return -1
  }
}

/** True if an item can begin with this byte. */
export const isItemStart = (byte: number): boolean => byte === OPEN_BRACE
