/** Name that replaces the repository's folder in the paths of a snapshot. */
export const ROOT_NAME = '/influencer-stats/'

/**
 * Removes paths of this machine from a text. Modules then have their path in the repository, packages their name, and
 * shared libraries their file name.
 */
export function removePaths(text: string, root: string): string {
  return text
    .replaceAll(`file://${root}`, ROOT_NAME)
    .replaceAll(root, ROOT_NAME)
    .replace(/node_modules\/\.pnpm\/[^/\s"]+\/node_modules\//g, 'node_modules/')
    .replace(/(?:\/[^\s"/]+)+\/([^\s"/]+) \[SHARED_LIB\]/g, '$1 [SHARED_LIB]')
}

/** Removes the fonts that the page of clinic would fetch from servers. The browser has sufficient fonts. */
export function removeFonts(html: string): string {
  return html.replace(
    /https:\/\/(?:clinicjs\.org\/assets\/css\/fonts\.css|fonts\.googleapis\.com\/css)/g,
    'data:text/css,',
  )
}

/** Adds `.js` to the names of TypeScript files, because clinic counts code of other files as a part of V8. */
export const toJavaScriptNames = (text: string): string => text.replace(/\.[cm]?ts(?=:\d)/g, '$&.js')

/** Reverts `toJavaScriptNames` in the page of clinic. */
export const toTypeScriptNames = (html: string): string => html.replace(/(\.[cm]?ts)\.js\b/g, '$1')

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
 * Removes rare frames. In each stack, the first frame with fewer than `least` samples in this position is removed, and
 * all frames that it calls. No sample is lost: it counts for the last remaining frame.
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
    let node = root
    for (const frame of tick) {
      node = getNext(node, frame)
      node.ticks++
    }
  }
  return ticks.map((tick) => {
    let node = root
    const rare = tick.findIndex((frame) => (node = getNext(node, frame)).ticks < least)
    return rare < 0 ? tick : tick.slice(0, rare)
  })
}
