import type { Price } from '../core/price.ts'
import { parsePriceJson } from '../core/price-json.ts'
import type { PriceBatch } from '../core/price-batch.ts'
import type { PriceRemoval } from '../messages.ts'

// Formats of log entries. A changed rule of evaluation needs new entry kinds: otherwise nodes of two versions create
// different catalogs from the same entry.

/** A put by the rules of older versions: values are texts or integers, amounts are doubles, and `from` and `to` are dates. */
export const PUT_V1 = 1
export const REMOVE = 2
/** The beginning of an import by the rules of older versions. */
export const IMPORT_BEGIN_V1 = 3
export const IMPORT_PIECE = 4
export const IMPORT_END = 5
export const IMPORT_ABORT = 6
/** Aborts the open import, if it had no new entry for too long. */
export const IMPORT_EXPIRY = 7
export const PUT = 8
export const IMPORT_BEGIN = 9
/** A JSON merge patch of a price. Its body is that of a put, with the patch in place of the price. */
export const PATCH = 10
/** Removes all prices that match conditions. */
export const REMOVE_WHERE = 11

export interface LoggedPut {
  /** The id of the price. */
  readonly key: string
  /** Maximum number of prices, from the setting `maxPrices` of the node that wrote the entry. */
  readonly most: number
  readonly price: Omit<Price, 'id'>
}

export interface ImportBegin {
  readonly id: string
  readonly replace: boolean
  readonly mayBeEmpty: boolean
  /** Maximum number of prices, from the setting `maxPrices` of the node that wrote the entry. */
  readonly most: number
}

export interface ImportPiece {
  readonly id: string
  /** Number of the piece, from 0. */
  readonly number: number
  /** Lines with prices; empty if there is a batch. */
  readonly bytes: Uint8Array
  /** The prices, if the log is local. Its entries are not stored. */
  readonly batch?: PriceBatch | undefined
}

export interface ImportEnd {
  readonly id: string
  /** Number of pieces. */
  readonly pieces: number
}

export const EMPTY_BODY = Buffer.alloc(0)
/** Length of an import's id as text (characters). */
const ID_LENGTH = 16
const PRICE_NAME = ',"price":'
const PIECE_HEADER_BYTES = ID_LENGTH + 4

/** @param body a price as JSON */
export const encodePut = (key: string, body: string, maxPrices: number): Buffer =>
  Buffer.from(`{"key":${JSON.stringify(key)},"most":${maxPrices},"price":${body}}`)

export const encodeText = (value: string | ImportBegin | ImportEnd | PriceRemoval): Buffer =>
  Buffer.from(JSON.stringify(value))

export function encodePiece({ id, number, bytes }: ImportPiece): Buffer {
  const head = Buffer.alloc(PIECE_HEADER_BYTES)
  head.write(id, 'latin1')
  head.writeUInt32BE(number, ID_LENGTH)
  return Buffer.concat([head, bytes])
}

/** @throws SyntaxError */
export const decodeText = <T>(body: Buffer): T => JSON.parse(body.toString())

/** Decodes a put of an older version, which rounds the value to a double. @throws SyntaxError */
export const decodePutV1 = decodeText<LoggedPut>

/** Decodes a put with its exact value. @throws SyntaxError */
export function decodePut(body: Buffer): LoggedPut {
  const text = body.toString()
  // The price is last. Within the key, the quotes of its name would be escaped.
  const at = text.indexOf(PRICE_NAME)
  const price = parsePriceJson(text.slice(at + PRICE_NAME.length, -1))
  return { ...JSON.parse(`${text.slice(0, at)}}`), price }
}

/** @throws RangeError */
export function decodePiece(body: Buffer): ImportPiece {
  if (body.length < PIECE_HEADER_BYTES) throw new RangeError('a part of an import is truncated')
  return {
    id: body.toString('latin1', 0, ID_LENGTH),
    number: body.readUInt32BE(ID_LENGTH),
    bytes: body.subarray(PIECE_HEADER_BYTES),
  }
}
