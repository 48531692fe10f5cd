import { createHmac, timingSafeEqual } from 'node:crypto'

const computeMac = (key: string, purpose: string, text: string) =>
  createHmac('sha256', key).update(`${purpose}\n${text}`).digest()

/** Signs a value: without the key it can be read but not created or changed. The text is safe in cookies and paths. */
export function seal(key: string, purpose: string, value: object): string {
  const text = Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${text}.${computeMac(key, purpose, text).toString('base64url')}`
}

/** The value of a sealed text. Undefined unless it was sealed with this key for this purpose. */
export function unseal<T extends object>(key: string, purpose: string, sealed: string): T | undefined {
  const [text = '', macText = '', ...more] = sealed.split('.')
  const mac = Buffer.from(macText, 'base64url')
  const expected = computeMac(key, purpose, text)
  // Only the canonical encoding of the bytes is valid: a second spelling would be a second link.
  const isExact = more.length === 0 && mac.toString('base64url') === macText
  if (!isExact || mac.length !== expected.length || !timingSafeEqual(mac, expected)) return undefined
  return JSON.parse(Buffer.from(text, 'base64url').toString())
}
