import { createHash, type Hash } from 'node:crypto'
import { ByteQueue } from './byte-queue.ts'

// A backup begins with one line of JSON: the service and the format. The entries follow, in key order. It ends with one
// line of JSON: the number of entries, the SHA-256 of all bytes before it, the time and the version. The same data
// gives the same bytes up to that last line.
// The backup of a cluster has the position of its state in the first line. The values of its entries are the bytes of a
// snapshot; their keys are empty.

/** First line: the service and the format of its data. */
export type BackupHead = DatabaseHead | ClusterHead

/** First line of the backup of a database. */
export interface DatabaseHead {
  readonly backup: 1
  readonly service: string
  readonly format: number
}

/** First line of the backup of a cluster. The snapshot itself names its format. */
export interface ClusterHead {
  readonly backup: 2
  readonly service: string
  readonly position: BackupPosition
}

/** Position in the log of a cluster: its epoch, the last applied sequence, and the checksum of the message there. */
export interface BackupPosition {
  readonly epoch: string
  readonly seq: number
  readonly check: number
  /** Positions after which later logs continued earlier ones, newest first. */
  readonly ancestors?: readonly Omit<BackupPosition, 'ancestors'>[] | undefined
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

/** First and last line of a backup that was read completely. */
export interface Backup {
  readonly head: BackupHead
  readonly end: BackupEnd
}

export type BackupEntry = readonly [key: Buffer, value: Buffer]

const ENTRY_HEADER_BYTES = 8
/** Replaces the length of a key after the last entry. */
const END_MARK = 0xffff_ffff
/** Maximum length of a line of JSON (bytes). */
const MAX_LINE_BYTES = 4_096
/** Maximum size of an entry (bytes): far above that of any service, so that a damaged length is detected. */
const MAX_ENTRY_BYTES = 0x4000_0000

/** Encodes a backup. */
export class BackupWriter {
  readonly #hash: Hash = createHash('sha256')
  #entries = 0

  writeHead(head: BackupHead): Buffer {
    return this.#count(Buffer.from(`${JSON.stringify(head)}\n`))
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
 * Reads the first line of a backup, and ends its source.
 * @throws BackupDamagedError
 */
export async function readHead(chunks: AsyncIterable<Buffer>): Promise<BackupHead> {
  const input = new ByteQueue(chunks)
  try {
    return parseHead(input.take(await findLineLength(input)))
  } finally {
    await input.close()
  }
}

async function findLineLength(input: ByteQueue): Promise<number> {
  const length = await input.findLine(MAX_LINE_BYTES)
  if (length === undefined) throw new BackupDamagedError('it is truncated, or not a backup')
  return length
}

function parseHead(line: Buffer): BackupHead {
  const head = parseLine<BackupHead>(line)
  if (head.backup !== 1 && head.backup !== 2) throw new BackupDamagedError('this version does not know its format')
  return head
}

/**
 * Reads a whole backup and returns its last line. Reads each byte once, and holds at most one entry.
 * @param size size of the backup (bytes), if it is known: a longer entry is detected before it is read
 * @throws BackupDamagedError if it is no backup, has an unknown format, or is cut off or altered
 */
export async function readBackup(
  chunks: AsyncIterable<Buffer>,
  sink: BackupSink,
  size = Number.POSITIVE_INFINITY,
): Promise<BackupEnd> {
  const input = new ByteQueue(chunks)
  try {
    return await readParts(input, sink, size)
  } finally {
    await input.close()
  }
}

async function readParts(input: ByteQueue, sink: BackupSink, size: number): Promise<BackupEnd> {
  const hash = createHash('sha256')

  async function fill(length: number): Promise<void> {
    if (!(await input.fill(length))) throw new BackupDamagedError('it is truncated')
  }

  function take(length: number): Buffer {
    const taken = input.take(length)
    hash.update(taken)
    return taken
  }

  sink.onHead(parseHead(take(await findLineLength(input))))
  let entries = 0
  for (;;) {
    // An `await` for each entry would take longer than the rest.
    if (!input.has(ENTRY_HEADER_BYTES)) await fill(ENTRY_HEADER_BYTES)
    const lengths = take(ENTRY_HEADER_BYTES)
    const keyLength = lengths.readUInt32LE()
    if (keyLength === END_MARK) break
    const length = keyLength + lengths.readUInt32LE(4)
    if (length > MAX_ENTRY_BYTES || input.takenBytes + length > size)
      throw new BackupDamagedError('it is truncated, or one of its lengths is wrong')
    if (!input.has(length)) await fill(length)
    const entry = take(length)
    const pending = sink.onEntry(entry.subarray(0, keyLength), entry.subarray(keyLength))
    if (pending) await pending
    entries++
  }
  const end = parseLine<BackupEnd>(input.take(await findLineLength(input)))
  if (await input.fill(1)) throw new BackupDamagedError('it has data after its end')
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
