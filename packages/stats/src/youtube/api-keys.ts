/** The first key is in use; a second one stands by. */
export interface ApiKeyOptions {
  /** A key a line. */
  readonly text: string
  /** Another key is in use. @param refused the key before, by its last characters, where YouTube has refused that */
  onChange?(refused?: string): void
}

const parseKeys = (text: string): string[] => text.split(/\s+/).filter((line) => line !== '')

/** A key as it may be shown. Four characters of a short key would be too many. */
export const maskKey = (key: string): string => `…${key.length >= 12 ? key.slice(-4) : ''}`

/**
 * The key for YouTube. The standby key takes its place only after YouTube has refused the first as invalid or expired,
 * and never for the sake of quota: YouTube's policies forbid spreading calls over the quotas of several keys.
 */
export class ApiKeys {
  #keys: string[]
  readonly #onChange: ApiKeyOptions['onChange']

  constructor({ text, onChange }: ApiKeyOptions) {
    this.#keys = parseKeys(text)
    this.#onChange = onChange
  }

  get current(): string {
    return this.#keys[0] ?? ''
  }

  /** The key in use, as it may be shown. */
  get maskedKey(): string {
    return maskKey(this.current)
  }

  /** YouTube will never accept this key again. @returns whether another is in use now */
  refuse(key: string): boolean {
    if (this.current !== key) return true
    if (this.#keys.length < 2) return false
    this.#keys.shift()
    this.#onChange?.(maskKey(key))
    return true
  }

  /** Takes over the content of the key file, which has changed. @returns whether it contains a key */
  replace(text: string): boolean {
    const keys = parseKeys(text)
    if (keys.length === 0) return false
    const before = this.current
    this.#keys = keys
    if (this.current !== before) this.#onChange?.()
    return true
  }
}
