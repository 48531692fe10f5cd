import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { link, rm, stat } from 'node:fs/promises'
import { PassThrough, type Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import type { PriceFormat } from '../messages.ts'

// Files of prices: NDJSON, CSV if the name ends in `.csv`, and compressed if it ends in `.gz`.

const GZIP_SUFFIX = /\.gz$/i

/** Returns the format that the name of a file states. */
export const getFormat = (file: string): PriceFormat =>
  /\.csv$/i.test(file.replace(GZIP_SUFFIX, '')) ? 'csv' : 'ndjson'

/**
 * Yields the decompressed bytes of a file.
 * @param onRead called with the share of the file that was read (0 to 1)
 */
export async function* readPriceFile(file: string, onRead: (share: number) => void): AsyncGenerator<Uint8Array> {
  const { size } = await stat(file)
  let read = 0
  const source = createReadStream(file)
  source.on('data', (chunk) => onRead((read += chunk.length) / size))
  const bytes: Transform = GZIP_SUFFIX.test(file) ? createGunzip() : new PassThrough()
  const done = pipeline(source, bytes)
  done.catch(() => {})
  yield* bytes
  await done
}

/** Writes a new file, which appears complete or not at all. */
export async function writePriceFile(file: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  if (existsSync(file)) throw Object.assign(new Error(`'${file}' exists already`), { code: 'EEXIST' })
  const draft = `${file}.${process.pid}`
  const bytes: Transform = GZIP_SUFFIX.test(file) ? createGzip() : new PassThrough()
  try {
    await pipeline(pieces, bytes, createWriteStream(draft, { flags: 'wx', flush: true }))
    await link(draft, file)
  } finally {
    await rm(draft, { force: true })
  }
}
