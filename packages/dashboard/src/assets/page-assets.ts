import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, extname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { stripTypesCached } from './strip-types-cache.ts'

const PAGE_FOLDER = fileURLToPath(new URL('../page/', import.meta.url))
/** Placeholder for the root path of all files. The path depends on their content. */
const ROOT_PLACEHOLDER = '{root}'

/** Modules of which a browser receives a different file than Node. */
const BROWSER_MODULES: Readonly<Record<string, string>> = { uplot: 'uplot/dist/uPlot.esm.js' }
const STYLE_MODULE = 'uplot/dist/uPlot.min.css'

const IMPORT_PATTERN = /(\bfrom\s*|\bimport\s*)(["'])([.@\w/-]+)\2/g
const MODULE_PATTERN = /\.[mj]?[jt]s$/
/** The texts of other languages than English, which a page loads only if its reader needs them. */
const TRANSLATION_PATTERN = /^texts\/(?!en\b)[a-z]{2}(?:\/|\.ts$)/

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
    : fileURLToPath(import.meta.resolve(BROWSER_MODULES[name] ?? name))

/** The path of a library's file: its name and its two innermost folders, because names alone may be equal. */
const toAssetPath = (file: string) => `libraries/${file.split(sep).slice(-3).join('-')}`

/** All files of the page and the library files that they import, by path. Modules have no types, and import by path. */
function readFiles(): Map<string, string> {
  const files = new Map<string, string>()
  function add(path: string, file: string): void {
    if (files.has(path)) return
    const text = readFileSync(file, 'utf8')
    const script = file.endsWith('.ts') ? stripTypesCached(text) : text
    files.set(path, script)
    if (!MODULE_PATTERN.test(file)) return
    const rewritten = script.replace(IMPORT_PATTERN, (all, keyword: string, quote: string, name: string) => {
      const imported = resolveFile(name, file)
      // The loop below adds the modules of the page.
      if (imported.startsWith(PAGE_FOLDER)) return all
      add(toAssetPath(imported), imported)
      return `${keyword}${quote}${ROOT_PLACEHOLDER}${toAssetPath(imported)}${quote}`
    })
    files.set(path, rewritten)
  }
  const names = readdirSync(PAGE_FOLDER, { recursive: true, encoding: 'utf8' }).sort()
  for (const name of names)
    if (Object.hasOwn(CONTENT_TYPES, extname(name))) add(name.replaceAll(sep, '/'), join(PAGE_FOLDER, name))
  return files
}

/** Reads all files at once, so that they are consistent. Files are compressed at their first request. */
export function readAssets() {
  const files = readFiles()
  const version = hashParts(...[...files].flat()).slice(0, 12)
  const root = `/assets/${version}/`
  // Without preloads, each level of imports costs the browser a round trip.
  const preloads = [...files.keys()]
    .filter((path) => MODULE_PATTERN.test(path) && !TRANSLATION_PATTERN.test(path))
    .map((path) => `<link rel="modulepreload" href="${ROOT_PLACEHOLDER}${path}">`)
  // The style is inline: browsers do not paint before they have it.
  const style = readFileSync(fileURLToPath(import.meta.resolve(STYLE_MODULE)), 'utf8') + files.get('style.css')!
  files.delete('style.css')
  const page = files.get('index.html')!.replace('{style}', () => `<style>${style}</style>`)
  files.set('index.html', page.replace('{preloads}', preloads.join('\n')))
  const assets = new Map(
    [...files].map(([path, text]) => [
      path,
      new Asset(CONTENT_TYPES[extname(path)]!, text.replaceAll(ROOT_PLACEHOLDER, root)),
    ]),
  )
  /** Hash of the inline style of the page, for its `Content-Security-Policy`. */
  const styleHash = `sha256-${createHash('sha256').update(style).digest('base64')}`
  return { version, page: assets.get('index.html')!, styleHash, find: (path: string) => assets.get(path) }
}
