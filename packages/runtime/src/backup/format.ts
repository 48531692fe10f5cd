import { createHash, type Hash } from 'node:crypto'

// A backup is one line of JSON that says whose data it has, the entries in the order of their keys, and one line that says
// how many and the SHA-256 of all before it. The same data make the same bytes up to that line.

/** Whose data, and in which format. */
export interface BackupHead {
  readonly backup: 1
  readonly service: string
  readonly format: number
}

/** How a backup ends. */
export interface BackupEnd {
  readonly entries: number
  /** Of everything before this line. */
  readonly sha256: string
  /** When it was whole, and what made it. */
  readonly at: string
  readonly version: string
}

export type Entry = readonly [key: Buffer, value: Buffer]

const SIZES = 8
const NEW_LINE = 0x0a
/** In place of a key's length. */
const NO_MORE = 0xffff_ffff
/** Most that a line of JSON takes. */
const LONGEST_LINE = 4_096

/** Makes the bytes of a backup. */
export class BackupWriter {
  readonly #hash: Hash = createHash('sha256')
  #entries = 0

  head(service: string, format: number): Buffer {
    return this.#count(Buffer.from(`${JSON.stringify({ backup: 1, service, format } satisfies BackupHead)}\n`))
  }

  entries(entries: readonly Entry[]): Buffer {
    this.#entries += entries.length
    return this.#count(
      Buffer.concat(
        entries.flatMap(([key, value]) => {
          const sizes = Buffer.allocUnsafe(SIZES)
          sizes.writeUInt32LE(key.length)
          sizes.writeUInt32LE(value.length, 4)
          return [sizes, key, value]
        }),
      ),
    )
  }

  end(version: string): Buffer {
    const mark = Buffer.alloc(SIZES)
    mark.writeUInt32LE(NO_MORE)
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

/** What is wrong with a backup. */
export class BackupDamaged extends Error {}

/** Takes the bytes of a backup as they come. */
export interface BackupSink {
  head(head: BackupHead): void
  /** Where it gives a promise, that is waited for before more is read. */
  entry(key: Buffer, value: Buffer): Promise<void> | undefined
}

/** Reads a backup to its end; gives what that says. @throws BackupDamaged where it is cut, or not what was written */
export async function readBackup(pieces: AsyncIterable<Buffer>, sink: BackupSink): Promise<BackupEnd> {
  const hash = createHash('sha256')
  let bytes: Buffer = Buffer.alloc(0)
  let head: BackupHead | undefined
  let entries = 0
  let hasEnded = false
  let waiting: Promise<void> | undefined

  function take(length: number): Buffer {
    const taken = bytes.subarray(0, length)
    hash.update(taken)
    bytes = bytes.subarray(length)
    return taken
  }

  /** Whether there was a whole one. */
  function takeHead(): boolean {
    const end = bytes.indexOf('\n')
    if (end < 0 && bytes.length > LONGEST_LINE) throw new BackupDamaged('it is no backup')
    if (end < 0) return false
    sink.head((head = parse<BackupHead>(take(end + 1))))
    if (head.backup !== 1) throw new BackupDamaged('it is no backup that this version knows')
    return true
  }

  function takeEntry(): boolean {
    if (bytes.length < SIZES) return false
    const keyLength = bytes.readUInt32LE()
    const valueLength = bytes.readUInt32LE(4)
    if (keyLength === NO_MORE) {
      take(SIZES)
      hasEnded = true
      return true
    }
    const length = SIZES + keyLength + valueLength
    if (bytes.length < length) return false
    const taken = take(length)
    waiting = sink.entry(taken.subarray(SIZES, SIZES + keyLength), taken.subarray(SIZES + keyLength))
    entries++
    return true
  }

  for await (const piece of pieces) {
    bytes = bytes.length > 0 ? Buffer.concat([bytes, piece]) : piece
    while (!hasEnded && (head ? takeEntry() : takeHead())) {
      if (waiting) await waiting
      waiting = undefined
    }
    if (hasEnded && bytes.length > LONGEST_LINE) throw new BackupDamaged('there is more behind its end')
  }
  if (!hasEnded || bytes.at(-1) !== NEW_LINE) throw new BackupDamaged('it is cut off')
  const end = parse<BackupEnd>(bytes)
  if (end.sha256 !== hash.digest('hex') || end.entries !== entries)
    throw new BackupDamaged('it is not what was written')
  return end
}

function parse<T>(line: Buffer): T {
  try {
    return JSON.parse(line.toString())
  } catch {
    throw new BackupDamaged('it is not what was written')
  }
}
