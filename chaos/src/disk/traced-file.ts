/** What is done to the bytes of a file. */
export type FileChange = { readonly at: number; readonly bytes: Buffer } | { readonly size: number }

/** The bytes of a file, as the changes that made them; the first `synced` of them are sure to be on the disk. */
export class TracedFile {
  readonly changes: FileChange[] = []
  synced = 0

  /** A file that has been on the disk for long. */
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
 * What a file holds after so many of its changes.
 * @param torn of the change after them, so many bytes
 * @param size of the file, where what is not written is zeros
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

/** How long a file is after these changes. */
export const getSize = (changes: readonly FileChange[]): number =>
  changes.reduce((size, change) => ('bytes' in change ? Math.max(size, getEnd(change)) : change.size), 0)
