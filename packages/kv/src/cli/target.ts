import { createWriteStream } from 'node:fs'
import { readlink, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { writeOut, writePieces } from './output.ts'

type Pieces = AsyncIterable<Uint8Array>

/** Names of a file that this process has open already. */
const OPEN_FILE = /^\/(?:dev|proc\/self)\/(?:fd\/(\d+)|stdout|stderr)$/

/** The open file that a path names. */
function openFileOf(path: string): number | undefined {
  const [, digits] = OPEN_FILE.exec(path) ?? []
  if (digits !== undefined) return Number(digits)
  return path === '/dev/stdout' ? 1 : path === '/dev/stderr' ? 2 : undefined
}

/**
 * Writes pieces to a file; `-` is standard output. A regular file, also behind symbolic links, is there whole or not at
 * all. A FIFO, a device or an open file is written to, and never replaced.
 * @throws OutputClosed
 */
export async function writeTarget(path: string, pieces: Pieces): Promise<void> {
  const open = openFileOf(path)
  if (path === '-' || open === 1) return writeOut(pieces)
  if (open !== undefined) return writePieces(pieces, createWriteStream('', { fd: open }))
  const file = await withoutLinks(path)
  const found = await stat(file).catch(ignoreMissing)
  if (found && !found.isFile() && !found.isDirectory()) return writePieces(pieces, createWriteStream(file))
  const draft = `${file}.${process.pid}`
  try {
    // A file that only its owner may read stays so.
    await writePieces(pieces, createWriteStream(draft, { flush: true, mode: found?.isFile() ? found.mode : 0o666 }))
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

/** The file behind symbolic links, which need not exist. */
async function withoutLinks(path: string): Promise<string> {
  const real = await realpath(path).catch(ignoreMissing)
  if (real !== undefined) return real
  const target = await readlink(path).catch(() => undefined)
  return target === undefined ? path : withoutLinks(resolve(dirname(path), target))
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
