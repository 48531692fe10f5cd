import { createWriteStream } from 'node:fs'
import { readlink, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { writeOut, writePieces } from './output.ts'

type Pieces = AsyncIterable<Uint8Array>

/** Paths that name an open file of this process. */
const OPEN_FILE = /^\/(?:dev|proc\/self)\/(?:fd\/(\d+)|stdout|stderr)$/

/** Returns the descriptor of the open file that a path names, if any. */
function openFileOf(path: string): number | undefined {
  const [, digits] = OPEN_FILE.exec(path) ?? []
  if (digits !== undefined) return Number(digits)
  return path === '/dev/stdout' ? 1 : path === '/dev/stderr' ? 2 : undefined
}

/**
 * Writes pieces to a file; `-` means standard output. A regular file, also through symbolic links, is written completely or
 * not at all. A FIFO, a device or an open file is written to, and never replaced.
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
    // The draft has the mode of the file: a file that only its owner may read remains private.
    await writePieces(pieces, createWriteStream(draft, { flush: true, mode: found?.isFile() ? found.mode : 0o666 }))
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

/** Resolves symbolic links to a file, which need not exist. */
async function withoutLinks(path: string): Promise<string> {
  const real = await realpath(path).catch(ignoreMissing)
  if (real !== undefined) return real
  const target = await readlink(path).catch(() => undefined)
  return target === undefined ? path : withoutLinks(resolve(dirname(path), target))
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
