import type { PostLink } from './content-link.ts'

/** Returns the post that a URL of its platform names. */
export type PostFinder = (url: URL) => PostLink | undefined

const SUBDOMAINS =
  /^(?:www|m|mobile|web|mbasic|touch|[a-z]{2}|[a-z]{2}-[a-z]{2}|v[mt]|clips|player|go)\.(?=[^.]+\.[^.]+$)/

/** Returns the host of a URL without the subdomain of its platform, such as a country or `m`. */
export const getHost = ({ hostname }: URL): string => hostname.replace(/\.$/, '').replace(SUBDOMAINS, '')

/** Returns the decoded parts of a path, without the punctuation that follows a link in a text. */
export const getParts = ({ pathname }: URL): string[] => pathname.split('/').filter(Boolean).slice(0, 8).map(decodePart)

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part).replace(/[).,;:!?…»”’\]}>*&'"]{1,8}$/, '')
  } catch {
    return part
  }
}
