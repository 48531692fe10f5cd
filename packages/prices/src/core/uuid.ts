import { ID_BYTES } from './answers.ts'

export const UUID = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$'

/** The bytes of a well-formed UUID. */
export function uuidBytes(uuid: string, into: Uint8Array = new Uint8Array(ID_BYTES)): Uint8Array {
  let at = 0
  let high = -1
  for (let i = 0; i < uuid.length; i++) {
    const unit = uuid.charCodeAt(i)
    if (unit === 45) continue
    const digit = unit < 58 ? unit - 48 : (unit | 32) - 87
    if (high < 0) high = digit
    else {
      into[at++] = high * 16 + digit
      high = -1
    }
  }
  return into
}

export function uuidText(bytes: Uint8Array, start = 0): string {
  const hex = Buffer.from(bytes.subarray(start, start + ID_BYTES)).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
