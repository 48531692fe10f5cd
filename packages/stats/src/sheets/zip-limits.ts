/** Why a spreadsheet file is refused. */
export type SheetFileRefusal = 'INVALID_FILE' | 'FILE_TOO_LARGE'

/** A file that is not a spreadsheet, or that exceeds a limit. */
export class SheetFileError extends Error {
  readonly code: SheetFileRefusal

  constructor(code: SheetFileRefusal, detail: string, options?: ErrorOptions) {
    super(detail, options)
    this.code = code
  }
}

const END_SIGNATURE = 0x06_05_4b_50
const ENTRY_SIGNATURE = 0x02_01_4b_50
const END_BYTES = 22
const ENTRY_BYTES = 46
const MAX_COMMENT_BYTES = 65_535
const MAX_ENTRIES = 1_000
/** Size of an empty deflated entry (bytes). */
const EMPTY_DEFLATE_BYTES = 2
/** In place of a size: the true one is in a ZIP64 record. Files below the limits need none. */
const ZIP64_SIZE = 0xff_ff_ff_ff

/**
 * Checks the sizes that the directory of a ZIP archive states, before any entry is unpacked. The library unpacks no
 * entry beyond its stated size, except for a stated size of 0: that is refused here.
 * @param maxBytes maximum of all entries together (bytes)
 */
export function checkUnpackedSize(bytes: Uint8Array, maxBytes: number): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const end = findEnd(view)
  if (end === undefined) throw new SheetFileError('INVALID_FILE', 'must be an XLSX file')
  const count = view.getUint16(end + 10, true)
  if (count > MAX_ENTRIES)
    throw new SheetFileError('FILE_TOO_LARGE', `must have at most ${MAX_ENTRIES} parts; received ${count}`)
  let at = view.getUint32(end + 16, true)
  let total = 0
  for (let i = 0; i < count; i++) {
    if (at + ENTRY_BYTES > bytes.length || view.getUint32(at, true) !== ENTRY_SIGNATURE)
      throw new SheetFileError('INVALID_FILE', 'must have a valid directory')
    const [packed, unpacked] = [view.getUint32(at + 20, true), view.getUint32(at + 24, true)]
    const isStored = view.getUint16(at + 10, true) === 0
    if (
      packed === ZIP64_SIZE ||
      unpacked === ZIP64_SIZE ||
      (unpacked === 0 && packed > EMPTY_DEFLATE_BYTES && !isStored)
    )
      throw new SheetFileError('INVALID_FILE', 'must state the sizes of its parts')
    total += Math.max(unpacked, packed)
    at += ENTRY_BYTES + view.getUint16(at + 28, true) + view.getUint16(at + 30, true) + view.getUint16(at + 32, true)
  }
  if (total > maxBytes)
    throw new SheetFileError('FILE_TOO_LARGE', `must be at most ${maxBytes} bytes unpacked; received ${total}`)
}

function findEnd(view: DataView): number | undefined {
  const first = Math.max(0, view.byteLength - END_BYTES - MAX_COMMENT_BYTES)
  for (let at = view.byteLength - END_BYTES; at >= first; at--)
    if (view.getUint32(at, true) === END_SIGNATURE) return at
  return undefined
}
