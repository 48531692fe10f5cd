/** Polynomial of CRC32C, bits reversed. */
const POLYNOMIAL = 0x82f6_3b78
const MASK_DELTA = 0xa282_ead8

// Eight tables process eight bytes per step: 800 MB/s. A native addon reaches 5 GB/s, but it is one more binary to
// install on each platform. Without one, the check of a folder of 250 MB takes 0.3 s.
const TABLES = Array.from({ length: 8 }, () => new Int32Array(256))

for (let byte = 0; byte < 256; byte++) {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1
  TABLES[0]![byte] = crc
}
for (let table = 1; table < 8; table++) {
  for (let byte = 0; byte < 256; byte++) {
    const before = TABLES[table - 1]![byte]!
    TABLES[table]![byte] = (before >>> 8) ^ TABLES[0]![before & 0xff]!
  }
}

type EightTables<T = Int32Array> = [T, T, T, T, T, T, T, T]
const [T0, T1, T2, T3, T4, T5, T6, T7] = TABLES as EightTables

/** Extends a CRC32C. @param before CRC32C of the preceding bytes */
export function computeCrc32c(bytes: Uint8Array, before = 0): number {
  let crc = ~before
  let i = 0
  for (const end = bytes.length - 7; i < end; i += 8) {
    crc ^= bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24)
    crc =
      T7[crc & 0xff]! ^
      T6[(crc >>> 8) & 0xff]! ^
      T5[(crc >>> 16) & 0xff]! ^
      T4[crc >>> 24]! ^
      T3[bytes[i + 4]!]! ^
      T2[bytes[i + 5]!]! ^
      T1[bytes[i + 6]!]! ^
      T0[bytes[i + 7]!]!
  }
  for (; i < bytes.length; i++) crc = (crc >>> 8) ^ T0[(crc ^ bytes[i]!) & 0xff]!
  return ~crc >>> 0
}

/** Masks a CRC as LevelDB stores it, because a CRC of bytes that contain their own CRC is weak. */
export const maskCrc = (crc: number): number => (((crc >>> 15) | (crc << 17)) + MASK_DELTA) >>> 0
