const QUOTE = 34
const BACKSLASH = 92
const OPEN = 123
const CLOSE = 125

const isSpace = (byte: number) => byte === 32 || byte === 10 || byte === 13 || byte === 9

/** Where the first byte lies that may not stand between two items: white space may, and a comma may not. */
export function skipSpace(bytes: Buffer, start: number): number {
  let at = start
  while (at < bytes.length && isSpace(bytes[at]!)) at++
  return at
}

/** Where the JSON object that begins at `start` ends, or -1 where that has not come yet. */
export function itemEnd(bytes: Buffer, start: number): number {
  let depth = 0
  let inText = false
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (inText) {
      if (byte === BACKSLASH) at++
      else if (byte === QUOTE) inText = false
    } else if (byte === QUOTE) inText = true
    else if (byte === OPEN) depth++
    else if (byte === CLOSE && --depth === 0) return at + 1
  }
  return -1
}

/** Whether an item can begin with this byte. */
export const beginsItem = (byte: number): boolean => byte === OPEN
