import { openSharedLevel } from '../../src/level/open/shared-level.ts'

const log = { error() {}, info() {} }
export const byteEncoding = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const
/** Opens a database whose keys and values are bytes. */
export const openByteLevel = (folder: string) =>
  openSharedLevel<Buffer, Buffer>(folder, { service: 'counter', format: 1, log, ...byteEncoding })

/** Bytes without zeros, so that zeros can only come from a hole. */
export const noZeros = (length: number, seed: number) =>
  Buffer.from(Array.from({ length }, (_, i) => 1 + ((i * 31 + seed * 17 + (i >> 8)) % 255)))
