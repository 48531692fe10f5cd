import { StartError } from '@influencer-stats/runtime/errors'
import type * as Library from 'roaring'

/** The roaring library. */
export type Roaring = typeof Library

/**
 * Loads roaring. Its binary is downloaded or compiled after the install (see scripts/native.ts), and pnpm continues if
 * that fails.
 * @throws StartError `ROARING_MISSING`
 */
export async function loadRoaring(): Promise<Roaring> {
  try {
    const module = await import('roaring')
    return module.default as unknown as Roaring
  } catch (error) {
    const { message } = error as Error
    throw new StartError(
      'ROARING_MISSING',
      'prices: the binary of "roaring" is missing or was built for another Node. Run `npx -y pnpm@12.21.0 install`: ' +
        'it downloads a prebuilt binary, or compiles one with g++, make and python3. The index "bitset" works without ' +
        `it: --indexes bitset (${message.split('\n', 1)[0]})`,
    )
  }
}
