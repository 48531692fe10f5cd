import type { SeededRandom } from '@influencer-stats/runtime/testing/seeded-random'

let values = 0

/** Returns a value that no other write has, except the empty value: text, non-text bytes, or lengths around buffer sizes. */
export function generateValue(random: SeededRandom): Buffer {
  const label = `${++values}:`
  const kind = random.below(100)
  if (kind < 3) return Buffer.alloc(0)
  if (kind < 45) return Buffer.from(label.padEnd(random.below(200), 'v'))
  if (kind < 55)
    return Buffer.from(label + random.pick(['\u2028é日😀', '\0', '"\\\n', '\u0085', '\ufeff']).repeat(random.below(40)))
  if (kind < 75)
    return Buffer.concat([Buffer.from(label), Buffer.alloc(random.below(300), random.pick([0xff, 0x80, 0xc3]))])
  if (kind < 97) return Buffer.from(label.padEnd(random.pick([255, 1_023, 4_096, 16_383, 16_385]), '0'))
  return Buffer.concat([Buffer.from(label), Buffer.alloc(random.pick([40_000, 131_073, 140_000]), 'é')])
}
