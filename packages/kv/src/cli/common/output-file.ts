import { createWriteStream } from 'node:fs'
import { readlink, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { writeOut, writeChunks } from './output.ts'

type FileChunks = AsyncIterable<Uint8Array>

/** Paths of files that this process has open, such as `/dev/stdout` and `/dev/fd/3`. */
const OPEN_FILE_PATTERN = /^\/(?:dev|proc\/self)\/(?:fd\/(\d+)|stdout|stderr)$/

/** Returns the descriptor if a path names an open file of this process. */
function parseOpenFile(path: string): number | undefined {
  const [, digits] = OPEN_FILE_PATTERN.exec(path) ?? []
  if (digits !== undefined) return Number(digits)
  return path === '/dev/stdout' ? 1 : path === '/dev/stderr' ? 2 : undefined
}

/**
 * Writes chunks to a file; `-` means standard output. A regular file, also behind symbolic links, is written completely
 * or not at all: a draft replaces it at the end. A FIFO, a device or an open file is written directly.
 * @throws OutputClosedError
 */
export async function writeOutputFile(path: string, chunks: FileChunks): Promise<void> {
  const open = parseOpenFile(path)
  if (path === '-' || open === 1) return writeOut(chunks)
  if (open !== undefined) return writeChunks(chunks, createWriteStream('', { fd: open }))
  const file = await resolveLinks(path)
  const existing = await stat(file).catch(ignoreMissingFile)
  if (existing && !existing.isFile() && !existing.isDirectory()) return writeChunks(chunks, createWriteStream(file))
  const draft = `${file}.${process.pid}`
  try {
    // The draft has the mode of the file that it replaces, less the bits of the umask: a file that only its owner may
    // read remains private.
    await writeChunks(
      chunks,
      createWriteStream(draft, { flush: true, mode: existing?.isFile() ? existing.mode : 0o666 }),
    )
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

/** Returns the path without symbolic links. If the file does not exist, links among its folders remain. */
async function resolveLinks(path: string): Promise<string> {
  const real = await realpath(path).catch(ignoreMissingFile)
  if (real !== undefined) return real
  const target = await readlink(path).catch(() => undefined)
  return target === undefined ? path : resolveLinks(resolve(dirname(path), target))
}

function ignoreMissingFile(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
