import { readFileSync } from 'node:fs'
import { getKey, type StackFrame } from './frames.ts'
import { readFlameGraphLibrary } from './page/flame-graph-library.ts'

/**
 * Minimum share of a call in a graph. A smaller one has less than a pixel, and one sample of 10,000 is not significant.
 */
export const MIN_SHARE = 0.0002

/** Numbers frames in the order of their first use. @param pack form of a frame in the list `frames` */
export function createFrameNumbers<Packed>(pack: (frame: StackFrame) => Packed) {
  const frames: Packed[] = []
  const numbers = new Map<string, number>()
  function getFrameNumber(frame: StackFrame): number {
    const key = getKey(frame)
    let number = numbers.get(key)
    if (number === undefined) numbers.set(key, (number = frames.push(pack(frame)) - 1))
    return number
  }
  return { frames, getFrameNumber }
}

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
export const escape = (text: string) => text.replace(/[&<>"]/g, (letter) => escapes[letter]!)
const readAsset = (name: string) => readFileSync(new URL(`./page/${name}`, import.meta.url), 'utf8')
// A `</script>` in a name would end the script element.
const toScript = (value: unknown) => JSON.stringify(value).replaceAll('<', '\\u003c')

/** Search field and buttons of a graph, which `page/controls.js` serves. */
export const CONTROLS = `<span class="controls"><input id="search" type="search" placeholder="Search functions and files" aria-label="Search">
<button id="flip" type="button">Flip</button><button id="reset" type="button">Reset</button></span>`

/** Parts of a page with a flame graph. Styles and the script are files of the folder `page`. */
export interface GraphDocument {
  readonly title: string
  readonly styles: readonly string[]
  readonly body: string
  /** Data that the script reads from the page. */
  readonly data: object
  readonly script: string
}

/** Renders one file without other files: styles, content, data, the library of graphs, and the scripts. */
export const renderDocument = ({ title, styles, body, data, script }: GraphDocument): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escape(title)}</title>
<link rel="icon" href="data:,">
<style>
${styles.map(readAsset).join('\n')}</style>
</head>
<body>
<h1>${escape(title)}</h1>
${body}
<script type="application/json" id="data">${toScript(data)}</script>
<script>
${readFlameGraphLibrary()}
</script>
<script type="module">
${readAsset(script)}
${readAsset('controls.js')}</script>
</body>
</html>
`
