/** Classes of ASCII characters (RFC 3986): bits that can be combined. `reserved` includes `comma` and `equals`. */
export const CHARACTER_CLASS = { unreserved: 1, reserved: 2, comma: 4, equals: 8, hexadecimal: 16 } as const

const PATTERNS: Readonly<Record<keyof typeof CHARACTER_CLASS, RegExp>> = {
  unreserved: /[\w.~-]/,
  reserved: /[:/?#[\]@!$&'()*+,;=]/,
  comma: /,/,
  equals: /=/,
  hexadecimal: /[\da-f]/i,
}

const ASCII_SIZE = 128

/** The classes of each ASCII character. */
const classes = Uint8Array.from({ length: ASCII_SIZE }, (_, code) =>
  Object.entries(CHARACTER_CLASS).reduce(
    (bits, [name, bit]) =>
      PATTERNS[name as keyof typeof PATTERNS].test(String.fromCharCode(code)) ? bits | bit : bits,
    0,
  ),
)

/** True if the character is in one of the classes. */
export const isInClass = (code: number, bits: number): boolean => code < ASCII_SIZE && (classes[code]! & bits) !== 0
