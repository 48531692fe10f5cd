import type { Price } from './price.ts'

// What stands in the log. A rule by which prices are judged that changes needs kinds of its own: nodes of two versions would
// make different catalogs of the same entry.

export const PUT = 1
export const REMOVE = 2
export const IMPORT_BEGIN = 3
export const IMPORT_PIECE = 4
export const IMPORT_END = 5
export const IMPORT_ABORT = 6
/** Whichever import is open is given up, if nothing came of it for too long. */
export const IMPORT_EXPIRY = 7

export interface LoggedPut {
  /** Its id. */
  readonly key: string
  /** So many prices there may be. */
  readonly most: number
  readonly price: Omit<Price, 'id'>
}

export interface ImportBegin {
  readonly id: string
  readonly replace: boolean
  readonly mayBeEmpty: boolean
  /** So many prices there may be. */
  readonly most: number
}

export interface ImportPiece {
  readonly id: string
  /** From 0. */
  readonly number: number
  readonly bytes: Buffer
}

export interface ImportEnd {
  readonly id: string
  /** How many there are. */
  readonly pieces: number
}

export const EMPTY_BODY = Buffer.alloc(0)
/** Of an import's id, as text: 16 digits. */
const ID_LENGTH = 16
const PIECE_HEADER_BYTES = ID_LENGTH + 4

/** @param body a price as JSON */
export const encodePut = (key: string, body: string, maxPrices: number): Buffer =>
  Buffer.from(`{"key":${JSON.stringify(key)},"most":${maxPrices},"price":${body}}`)

export const encodeText = (value: string | ImportBegin | ImportEnd): Buffer => Buffer.from(JSON.stringify(value))

export function encodePiece(id: string, number: number, bytes: readonly Uint8Array[]): Buffer {
  const head = Buffer.alloc(PIECE_HEADER_BYTES)
  head.write(id, 'latin1')
  head.writeUInt32BE(number, ID_LENGTH)
  return Buffer.concat([head, ...bytes])
}

/** @throws SyntaxError */
export const decodeText = <T>(body: Buffer): T => JSON.parse(body.toString())

/** @throws RangeError */
export function decodePiece(body: Buffer): ImportPiece {
  if (body.length < PIECE_HEADER_BYTES) throw new RangeError('a piece of an import is cut')
  return {
    id: body.toString('latin1', 0, ID_LENGTH),
    number: body.readUInt32BE(ID_LENGTH),
    bytes: body.subarray(PIECE_HEADER_BYTES),
  }
}
