/** What is done to the bytes of a file. */
export type Change = { readonly at: number; readonly bytes: Buffer } | { readonly size: number }

/** The bytes of a file, as the changes that made them; the first `synced` of them are sure to be on the disk. */
export class File {
  readonly changes: Change[] = []
  synced = 0

  /** A file that has been on the disk for long. */
  static of(bytes: Buffer): File {
    const file = new File()
    file.changes.push({ at: 0, bytes })
    file.synced = 1
    return file
  }

  get size(): number {
    return sizeOf(this.changes)
  }
}

/**
 * What a file holds after so many of its changes.
 * @param torn of the change after them, so many bytes
 * @param size of the file, where what is not written is zeros
 */
export function contentOf({ changes }: File, count: number, torn = 0, size = 0): Buffer {
  const done = changes.slice(0, count)
  const next = changes[count]
  if (next && 'bytes' in next && torn > 0) done.push({ at: next.at, bytes: next.bytes.subarray(0, torn) })
  const length = Math.max(size, sizeOf(done))
  const content = Buffer.alloc(done.reduce((most, change) => Math.max(most, endOf(change)), length))
  let end = 0
  for (const change of done) {
    if ('bytes' in change) {
      change.bytes.copy(content, change.at)
      end = Math.max(end, endOf(change))
    } else {
      if (change.size < end) content.fill(0, change.size, end)
      end = change.size
    }
  }
  return content.subarray(0, length)
}

const endOf = (change: Change) => ('bytes' in change ? change.at + change.bytes.length : change.size)

/** How long a file is after these changes. */
export const sizeOf = (changes: readonly Change[]): number =>
  changes.reduce((size, change) => ('bytes' in change ? Math.max(size, endOf(change)) : change.size), 0)
