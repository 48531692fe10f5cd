import { createHmac, timingSafeEqual } from 'node:crypto'

const computeMac = (key: string, purpose: string, text: string) =>
  createHmac('sha256', key).update(`${purpose}\n${text}`).digest()

/** A value that nobody can make or change who lacks the key; anybody can read it. Fit for a cookie and for a path. */
export function seal(key: string, purpose: string, value: object): string {
  const text = Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${text}.${computeMac(key, purpose, text).toString('base64url')}`
}

/** What was sealed with this key for this purpose; nothing else comes out. */
export function unseal<T extends object>(key: string, purpose: string, sealed: string): T | undefined {
  const [text = '', macText = '', ...more] = sealed.split('.')
  const mac = Buffer.from(macText, 'base64url')
  const expected = computeMac(key, purpose, text)
  // Two spellings of the same bytes are not two links.
  const isExact = more.length === 0 && mac.toString('base64url') === macText
  if (!isExact || mac.length !== expected.length || !timingSafeEqual(mac, expected)) return undefined
  return JSON.parse(Buffer.from(text, 'base64url').toString())
}
