/** Prefix of paths in a snapshot, instead of the repository's folder. */
export const ROOT_NAME = '/influencer-stats/'

/** Names modules by their path in the repository, packages by their name, and shared libraries by their file. */
export function removePaths(text: string, root: string): string {
  return text
    .replaceAll(`file://${root}`, ROOT_NAME)
    .replaceAll(root, ROOT_NAME)
    .replace(/node_modules\/\.pnpm\/[^/\s"]+\/node_modules\//g, 'node_modules/')
    .replace(/(?:\/[^\s"/]+)+\/([^\s"/]+) \[SHARED_LIB\]/g, '$1 [SHARED_LIB]')
}

/**
 * Removes fonts that clinic's page would fetch. The browser's own are sufficient, and no server learns of the reader.
 */
export function removeFonts(html: string): string {
  return html.replace(
    /https:\/\/(?:clinicjs\.org\/assets\/css\/fonts\.css|fonts\.googleapis\.com\/css)/g,
    'data:text/css,',
  )
}

/** A frame as clinic records it. */
export interface TickFrame {
  readonly name: string
  readonly type: string
  readonly kind?: string
}

/** The frames of one sample, the outermost first. */
export type Tick = readonly TickFrame[]

interface TickNode {
  ticks: number
  readonly next: Map<string, TickNode>
}

/**
 * Ends every stack above the first frame that has fewer than `least` samples there. No sample is lost: it counts for
 * the last remaining frame.
 */
export function cutRare(ticks: readonly Tick[], least: number): Tick[] {
  const root: TickNode = { ticks: 0, next: new Map() }
  const getNext = ({ next }: TickNode, { name, kind }: TickFrame): TickNode => {
    const key = `${name} ${kind}`
    let found = next.get(key)
    if (!found) next.set(key, (found = { ticks: 0, next: new Map() }))
    return found
  }
  for (const tick of ticks) {
    let count = root
    for (const frame of tick) {
      count = getNext(count, frame)
      count.ticks++
    }
  }
  return ticks.map((tick) => {
    let count = root
    const rare = tick.findIndex((frame) => (count = getNext(count, frame)).ticks < least)
    return rare < 0 ? tick : tick.slice(0, rare)
  })
}
