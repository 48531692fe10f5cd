import { createHash, type Hash } from 'node:crypto'

// A backup begins with one line of JSON: the service and the format. The entries follow, in key order. It ends with one
// line of JSON: the number of entries, the SHA-256 of all bytes before it, the time and the version. The same data
// gives the same bytes up to that last line.

/** First line: the service and the format of its data. */
export interface BackupHead {
  readonly backup: 1
  readonly service: string
  readonly format: number
}

/** Last line. */
export interface BackupEnd {
  readonly entries: number
  /** SHA-256 of everything before this line (hex). */
  readonly sha256: string
  /** Time when the backup was complete (ISO 8601). */
  readonly at: string
  /** Version that wrote the backup. */
  readonly version: string
}

export type BackupEntry = readonly [key: Buffer, value: Buffer]

const ENTRY_HEADER_BYTES = 8
const NEW_LINE = 0x0a
/** Replaces the length of a key after the last entry. */
const END_MARK = 0xffff_ffff
/** Maximum length of a line of JSON (bytes). */
const MAX_LINE_BYTES = 4_096

/** Encodes a backup. */
export class BackupWriter {
  readonly #hash: Hash = createHash('sha256')
  #entries = 0

  writeHead(service: string, format: number): Buffer {
    return this.#count(Buffer.from(`${JSON.stringify({ backup: 1, service, format } satisfies BackupHead)}\n`))
  }

  writeEntries(entries: readonly BackupEntry[]): Buffer {
    this.#entries += entries.length
    return this.#count(
      Buffer.concat(
        entries.flatMap(([key, value]) => {
          const sizes = Buffer.allocUnsafe(ENTRY_HEADER_BYTES)
          sizes.writeUInt32LE(key.length)
          sizes.writeUInt32LE(value.length, 4)
          return [sizes, key, value]
        }),
      ),
    )
  }

  writeEnd(version: string): Buffer {
    const mark = Buffer.alloc(ENTRY_HEADER_BYTES)
    mark.writeUInt32LE(END_MARK)
    this.#count(mark)
    const [sha256, at] = [this.#hash.digest('hex'), new Date().toISOString()]
    const end: BackupEnd = { entries: this.#entries, sha256, at, version }
    return Buffer.concat([mark, Buffer.from(`${JSON.stringify(end)}\n`)])
  }

  #count(bytes: Buffer): Buffer {
    this.#hash.update(bytes)
    return bytes
  }
}

/** A backup that cannot be read. The message is the reason. */
export class BackupDamagedError extends Error {}

/** Receives the parts of a backup as they are read. */
export interface BackupSink {
  onHead(head: BackupHead): void
  /** If this returns a promise, reading continues when it resolves. */
  onEntry(key: Buffer, value: Buffer): Promise<void> | undefined
}

/**
 * Reads a whole backup and returns its last line.
 * @throws BackupDamagedError if it is no backup, has an unknown format, or is cut off or altered
 */
export async function readBackup(chunks: AsyncIterable<Buffer>, sink: BackupSink): Promise<BackupEnd> {
  const hash = createHash('sha256')
  let bytes: Buffer = Buffer.alloc(0)
  let head: BackupHead | undefined
  let entries = 0
  let hasEnded = false
  let pendingEntry: Promise<void> | undefined

  function take(length: number): Buffer {
    const taken = bytes.subarray(0, length)
    hash.update(taken)
    bytes = bytes.subarray(length)
    return taken
  }

  /** Returns false if the head has not arrived completely yet. */
  function takeHead(): boolean {
    const end = bytes.indexOf('\n')
    if (end < 0 && bytes.length > MAX_LINE_BYTES) throw new BackupDamagedError('it is not a backup')
    if (end < 0) return false
    sink.onHead((head = parseLine<BackupHead>(take(end + 1))))
    if (head.backup !== 1) throw new BackupDamagedError('this version does not know its format')
    return true
  }

  /** Returns false if the next entry has not arrived completely yet. */
  function takeEntry(): boolean {
    if (bytes.length < ENTRY_HEADER_BYTES) return false
    const keyLength = bytes.readUInt32LE()
    const valueLength = bytes.readUInt32LE(4)
    if (keyLength === END_MARK) {
      take(ENTRY_HEADER_BYTES)
      hasEnded = true
      return true
    }
    const length = ENTRY_HEADER_BYTES + keyLength + valueLength
    if (bytes.length < length) return false
    const taken = take(length)
    pendingEntry = sink.onEntry(
      taken.subarray(ENTRY_HEADER_BYTES, ENTRY_HEADER_BYTES + keyLength),
      taken.subarray(ENTRY_HEADER_BYTES + keyLength),
    )
    entries++
    return true
  }

  for await (const chunk of chunks) {
    bytes = bytes.length > 0 ? Buffer.concat([bytes, chunk]) : chunk
    while (!hasEnded && (head ? takeEntry() : takeHead())) {
      if (pendingEntry) await pendingEntry
      pendingEntry = undefined
    }
    if (hasEnded && bytes.length > MAX_LINE_BYTES) throw new BackupDamagedError('it has data after its end')
  }
  if (!hasEnded || bytes.at(-1) !== NEW_LINE) throw new BackupDamagedError('it is truncated')
  const end = parseLine<BackupEnd>(bytes)
  if (end.sha256 !== hash.digest('hex') || end.entries !== entries)
    throw new BackupDamagedError('its checksum or its number of entries is wrong')
  return end
}

function parseLine<T>(line: Buffer): T {
  try {
    return JSON.parse(line.toString())
  } catch {
    throw new BackupDamagedError('one of its lines is not JSON')
  }
}
