import type { Encoder } from './encoder.ts'

const UNSAFE = /[<>\u2028\u2029]/g
const escape = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`

/** A JavaScript string that is also safe within a `<script>` element: it can neither end it nor open a comment. */
const literal = (value: string) => JSON.stringify(value).replace(UNSAFE, escape)

const script = (call: string) => `<script>${call}</script>\n`

/** An endless HTML page whose scripts call `console.log` with each value: what browsers could do before EventSource. */
export function createCometEncoder(): Encoder {
  return {
    name: 'comet',
    tellsGaps: true,
    contentType: 'text/html; charset=utf-8',
    opening: () => '<!doctype html><meta charset="utf-8"><title>comet</title>\n',
    position: () => '',
    value: (_id, { value }) => script(`console.log(${literal(value)})`),
    gap: () => script('console.warn("gap")'),
    closed: () => script('console.log("closed")'),
    farewell: () => '',
    heartbeat: '\n',
  }
}
