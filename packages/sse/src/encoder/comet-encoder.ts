import { CHUNKS } from '@influencer-stats/runtime/framing'
import type { Encoder } from './encoder.ts'

const UNSAFE_CHARACTERS = /[<>\u2028\u2029]/g
const escape = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`

/**
 * Returns a JavaScript string literal that is safe within a `<script>` element: it can neither end the element nor open
 * a comment.
 */
const toLiteral = (value: string) => JSON.stringify(value).replace(UNSAFE_CHARACTERS, escape)

const toScript = (call: string) => `<script>${call}</script>\n`

/**
 * Creates the encoder of an endless HTML page whose scripts call `console.log` with each value. Pages used this before
 * EventSource.
 */
export function createCometEncoder(): Encoder {
  return {
    name: 'comet',
    framing: CHUNKS,
    hasGapEvents: true,
    contentType: 'text/html; charset=utf-8',
    encodeOpening: () => '<!doctype html><meta charset="utf-8"><title>comet</title>\n',
    encodePosition: () => '',
    encodeValue: (_id, { value }) => toScript(`console.log(${toLiteral(value)})`),
    encodeGap: () => toScript('console.warn("gap")'),
    encodeClosed: () => toScript('console.log("closed")'),
    encodeGoodbye: () => '',
    heartbeat: '\n',
  }
}
