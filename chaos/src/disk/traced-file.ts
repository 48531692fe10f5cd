/** A change of a file: bytes that are written at an offset, or a new size. */
export type FileChange = { readonly at: number; readonly bytes: Buffer } | { readonly size: number }

/** A file as the list of its changes. The first `synced` changes are certainly on the disk. */
export class TracedFile {
  readonly changes: FileChange[] = []
  synced = 0

  /** Creates a file that is entirely on the disk. */
  static fromBytes(bytes: Buffer): TracedFile {
    const file = new TracedFile()
    file.changes.push({ at: 0, bytes })
    file.synced = 1
    return file
  }

  get size(): number {
    return getSize(this.changes)
  }
}

/**
 * Returns the contents of a file after its first `count` changes.
 * @param torn number of bytes of the next change that are also on the disk
 * @param size minimum size of the file; unwritten bytes are zeros
 */
export function getContent({ changes }: TracedFile, count: number, torn = 0, size = 0): Buffer {
  const done = changes.slice(0, count)
  const next = changes[count]
  if (next && 'bytes' in next && torn > 0) done.push({ at: next.at, bytes: next.bytes.subarray(0, torn) })
  const length = Math.max(size, getSize(done))
  const content = Buffer.alloc(done.reduce((largest, change) => Math.max(largest, getEnd(change)), length))
  let end = 0
  for (const change of done) {
    if ('bytes' in change) {
      change.bytes.copy(content, change.at)
      end = Math.max(end, getEnd(change))
    } else {
      if (change.size < end) content.fill(0, change.size, end)
      end = change.size
    }
  }
  return content.subarray(0, length)
}

const getEnd = (change: FileChange) => ('bytes' in change ? change.at + change.bytes.length : change.size)

/** Returns the size of a file after these changes. */
export const getSize = (changes: readonly FileChange[]): number =>
  changes.reduce((size, change) => ('bytes' in change ? Math.max(size, getEnd(change)) : change.size), 0)
