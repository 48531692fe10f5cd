import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, extname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Language } from '../page/texts/language.ts'
import { ModuleGraph } from './module-graph.ts'
import { stripTypesCached } from './strip-types-cache.ts'

const PAGE_FOLDER = fileURLToPath(new URL('../page/', import.meta.url))
/** Placeholder for the root path of all files. The path depends on their content. */
const ROOT_PLACEHOLDER = '{root}'

/** Modules of which a browser receives a different file than Node, and what makes that file a module. */
const BROWSER_MODULES: Readonly<Record<string, readonly [file: string, end: string]>> = {
  // Its module is not minified: it is twice as large.
  uplot: ['uplot/dist/uPlot.iife.min.js', 'export default uPlot'],
}
const STYLE_MODULE = 'uplot/dist/uPlot.min.css'

const IMPORT_PATTERN = /(\bfrom\s*|\bimport\s*)(["'])([.@\w/-]+)\2/g
const MODULE_PATTERN = /\.[mj]?[jt]s$/

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.ts': 'text/javascript; charset=utf-8',
}

const compressors = {
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_MODE]: 1 },
    }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes, { level: 9 }),
  identity: async (bytes: Buffer) => bytes,
}

export type ContentCoding = keyof typeof compressors

/** A file in one content coding, ready to send. */
export interface EncodedAsset {
  readonly type: string
  readonly coding: ContentCoding
  /** The tag of exactly these bytes. */
  readonly etag: string
  readonly bytes: Buffer
}

/** One file of the page. It is encoded at its first request. */
export class Asset {
  readonly #type: string
  readonly #bytes: Buffer
  readonly #encoded = new Map<ContentCoding, Promise<EncodedAsset>>()

  constructor(type: string, text: string) {
    this.#type = type
    this.#bytes = Buffer.from(text)
  }

  encode(coding: ContentCoding): Promise<EncodedAsset> {
    let encoded = this.#encoded.get(coding)
    if (!encoded) this.#encoded.set(coding, (encoded = this.#compress(coding)))
    return encoded
  }

  async #compress(coding: ContentCoding): Promise<EncodedAsset> {
    const bytes = await compressors[coding](this.#bytes)
    return { type: this.#type, coding, etag: `"${hashParts(bytes).slice(0, 22)}"`, bytes }
  }
}

const hashParts = (...parts: (Buffer | string)[]) => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('base64url')
}

/** The files of the page. Their path changes when any file changes, so browsers may cache them for a year. */
export type Assets = ReturnType<typeof readAssets>

/** Resolves an import of a module of the page or of a library. @returns the file of the imported module */
const resolveFile = (name: string, importer: string): string =>
  name.startsWith('.')
    ? join(dirname(importer), name)
    : fileURLToPath(import.meta.resolve(BROWSER_MODULES[name]?.[0] ?? name))

/** The path of a library's file: its name and its two innermost folders, because names alone may be equal. */
const toAssetPath = (file: string) => `libraries/${file.split(sep).slice(-3).join('-')}`

/** All files of the page and the library files that they import, by path. Modules have no types, and import by path. */
function readFiles(): Map<string, string> {
  const files = new Map<string, string>()
  function add(path: string, file: string, end = ''): void {
    if (files.has(path)) return
    const text = readFileSync(file, 'utf8')
    const script = file.endsWith('.ts') ? stripTypesCached(text) : text + end
    files.set(path, script)
    if (!MODULE_PATTERN.test(file)) return
    const rewritten = script.replace(IMPORT_PATTERN, (all, keyword: string, quote: string, name: string) => {
      const imported = resolveFile(name, file)
      // The loop below adds the modules of the page.
      if (imported.startsWith(PAGE_FOLDER)) return all
      add(toAssetPath(imported), imported, BROWSER_MODULES[name]?.[1])
      return `${keyword}${quote}${ROOT_PLACEHOLDER}${toAssetPath(imported)}${quote}`
    })
    files.set(path, rewritten)
  }
  const names = readdirSync(PAGE_FOLDER, { recursive: true, encoding: 'utf8' }).sort()
  for (const name of names)
    if (Object.hasOwn(CONTENT_TYPES, extname(name))) add(name.replaceAll(sep, '/'), join(PAGE_FOLDER, name))
  return files
}

/** The entry of the page, which loads its texts and its screen. */
const MAIN = 'main.ts'

/** Reads all files at once, so that they are consistent. Files are compressed at their first request. */
export function readAssets() {
  const files = readFiles()
  const version = hashParts(...[...files].flat()).slice(0, 12)
  const root = `/assets/${version}/`
  const graph = new ModuleGraph(files, ROOT_PLACEHOLDER)
  const frame = graph.list([MAIN])
  // A module that is loaded on demand imports all that it needs itself: each level of imports costs a round trip.
  for (const path of graph.onDemand) {
    const needed = graph.list([path], frame).slice(0, -1)
    files.set(path, needed.map((one) => `import "${ROOT_PLACEHOLDER}${one}";`).join('') + files.get(path)!)
  }
  // The style is inline: browsers do not paint before they have it.
  const style = readFileSync(fileURLToPath(import.meta.resolve(STYLE_MODULE)), 'utf8') + files.get('style.css')!
  const template = files.get('index.html')!.replace('{style}', () => `<style>${style}</style>`)
  files.delete('style.css')
  files.delete('index.html')
  const createAsset = (path: string, text: string) =>
    new Asset(CONTENT_TYPES[extname(path)]!, text.replaceAll(ROOT_PLACEHOLDER, root))
  const assets = new Map([...files].map(([path, text]) => [path, createAsset(path, text)]))
  const pages = new Map<string, Asset>()

  /**
   * The page that names the modules of a screen and of its texts, so that a browser reads all of them at once.
   * @param screen path of the module of the screen; undefined for the page of unknown addresses
   */
  function findPage(screen: string | undefined, language: Language): Asset {
    const key = `${screen} ${language}`
    let page = pages.get(key)
    if (!page) {
      const modules = graph.list([MAIN, `texts/${language}.ts`, ...(screen ? [screen] : [])])
      const preloads = modules.map((path) => `<link rel="modulepreload" href="${ROOT_PLACEHOLDER}${path}">`)
      page = createAsset('index.html', template.replace('{preloads}', preloads.join('\n')))
      pages.set(key, page)
    }
    return page
  }
  /** Hash of the inline style of the page, for its `Content-Security-Policy`. */
  const styleHash = `sha256-${createHash('sha256').update(style).digest('base64')}`
  return { version, findPage, styleHash, find: (path: string) => assets.get(path) }
}
