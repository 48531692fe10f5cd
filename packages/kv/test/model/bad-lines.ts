import { MAX_KEY_BYTES } from './keys.ts'
import type { ModelBatch } from './operations.ts'
import type { SeededRandom } from '@influencer-stats/runtime/testing/seeded-random'

const TOO_LARGE_LINE = JSON.stringify({ op: 'put', id: 'é'.repeat(MAX_KEY_BYTES / 2) + 'x', value: '' })

const BAD_LINES = [
  'x',
  '{}',
  '[]',
  '{"op":"get","id":"a"}',
  '{"op":"put","id":"a"}',
  '{"op":"put","id":"","value":"x"}',
  '{"op":"put","id":"\\ud800","value":"x"}',
  '{"op":"put","id":"a","value":"\\udc00"}',
  '{"op":"put","id":"a","value":"x","valueBase64":"AA=="}',
  '{"op":"put","id":"a","valueBase64":"A"}',
  '{"op":"put","id":"a","value":"x","ttl":0}',
  '{"op":"put","id":"a","value":"x","ttl":1,"expiresAt":9999999999999}',
  '{"op":"delete","id":"a","ttl":1}',
  '{"op":"expire","id":"a"}',
  '{"op":"expire","id":"a","ttl":1,"value":"x"}',
]

/** Returns an invalid line and its index in a batch of `lines` lines. */
export function generateBadLine(random: SeededRandom, lines: number): NonNullable<ModelBatch['badLine']> {
  const at = random.between(0, lines)
  if (random.percent(10)) return { at, text: TOO_LARGE_LINE, code: 'KEY_TOO_LARGE' }
  return { at, text: random.pick(BAD_LINES), code: 'BATCH_LINE_INVALID' }
}
