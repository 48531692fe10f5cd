/**
 * The screens of the page: the path of each, in which `:name` is a part of any text, and the file of its module. The
 * server reads this table, too: it answers these paths with the page, which names the files of their screen in advance.
 */
export const SCREEN_FILES = {
  '/': 'screens/home/home.ts',
  '/campaigns/:id': 'screens/campaign.ts',
  '/creators': 'screens/creators/creators.ts',
  '/creators/:id': 'screens/creators/creator.ts',
  '/compare': 'screens/compare.ts',
  '/client-links': 'screens/client-links.ts',
  '/prices': 'screens/prices.ts',
  '/health': 'screens/health.ts',
  '/trash': 'screens/trash.ts',
  '/sign-in': 'screens/home/home.ts',
  '/shared/:token': 'screens/campaign.ts',
} as const

export type ScreenPath = keyof typeof SCREEN_FILES
export type ScreenFile = (typeof SCREEN_FILES)[ScreenPath]

export interface FoundScreen {
  readonly path: ScreenPath
  /** The part of the address that the path names. Empty if the path has no such part. */
  readonly part: string
}

/** Finds the screen of an address. Undefined if there is none, or if the encoding of the address is invalid. */
export function findScreen(address: string): FoundScreen | undefined {
  for (const path of Object.keys(SCREEN_FILES) as ScreenPath[]) {
    const [before, name] = path.split(':') as [string, string?]
    if (name === undefined && address === path) return { path, part: '' }
    const part = name !== undefined && address.startsWith(before) ? address.slice(before.length) : ''
    if (part === '' || part.includes('/')) continue
    try {
      return { path, part: decodeURIComponent(part) }
    } catch {
      return undefined
    }
  }
  return undefined
}
