import { NO_CHUNKS } from '@influencer-stats/runtime/framing'
import type { Encoder } from './encoder.ts'

const encoders = new WeakMap<Encoder, Encoder>()

/** Returns the encoder for clients of HTTP/1.0, which know no chunks. It is always the same one, so streams share it. */
export function withoutChunks(encoder: Encoder): Encoder {
  let plain = encoders.get(encoder)
  if (!plain) encoders.set(encoder, (plain = { ...encoder, name: `${encoder.name}/1.0`, framing: NO_CHUNKS }))
  return plain
}
