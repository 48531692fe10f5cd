import { createParser } from 'eventsource-parser'
import fc from 'fast-check'
import vm from 'node:vm'
import { describe, expect, it } from 'vitest'
import { parts } from '../src/parts.ts'
import { describeEncoder, toContent, type EncoderTraits, type ReceivedEvents } from './encoder.conformance.ts'
import { EventSourceReader } from './support/event-source-reader.ts'

/** Reads a stream with two parsers, which must agree: that of these tests and that of `eventsource-parser`. */
function readEventStream(text: string): ReceivedEvents {
  const reader = new EventSourceReader()
  reader.feed(text)
  const others: { type: string; data: string }[] = []
  const other = createParser({ onEvent: ({ event = 'message', data }) => others.push({ type: event, data }) })
  other.feed(text)
  expect(reader.events.map(({ type, data }) => ({ type, data }))).toEqual(others)
  return {
    values: others.filter(({ type }) => type === 'message').map(({ data }) => data),
    position: reader.latestId,
    gaps: others.filter(({ type }) => type === 'gap').length,
    closed: others.some(({ type }) => type === 'closed'),
  }
}

/** Runs the scripts of a page. As in a browser, a script ends at the first `</script`, and `<!--` begins a comment. */
function readComet(text: string): ReceivedEvents {
  const values: string[] = []
  let gaps = 0
  for (const [, source = ''] of text.matchAll(/<script>(.*?)<\/script/gs)) {
    expect(source).not.toMatch(/<!--|<script/i)
    const console = { log: (value: string) => values.push(value), warn: () => gaps++ }
    vm.runInNewContext(source, { console })
  }
  const closed = values.at(-1) === 'closed'
  return { values, gaps, closed }
}

const traits: Record<keyof typeof parts.encoder, EncoderTraits> = {
  'event-stream': {
    hear: readEventStream,
    normalize: (value) => value.replace(/\r\n|\r/g, '\n'),
    resumes: true,
  },
  named: {
    hear(text) {
      const heard = readEventStream(text)
      return { ...heard, values: heard.values.map((json) => JSON.parse(json).value) }
    },
    normalize: (value) => value,
    resumes: true,
  },
  mercure: {
    hear: readEventStream,
    normalize: (value) => value.replace(/\r\n|\r/g, '\n'),
    resumes: true,
    spell: (id) => `#${id}`,
  },
  comet: { hear: readComet, normalize: (value) => value, resumes: false },
}

for (const [name, create] of Object.entries(parts.encoder)) {
  describeEncoder(name, create, traits[name as keyof typeof traits])
}

describe('encoder event-stream', () => {
  it('is parsed equally at any split', async () => {
    const encoder = await parts.encoder['event-stream']()
    const text =
      encoder.encodeOpening(1) +
      encoder.encodeValue('e-1', toContent('a\r\nb\rc\n')) +
      encoder.encodeValue('e-2', toContent('')) +
      encoder.encodeClosed('e-3')
    const whole = new EventSourceReader()
    whole.feed(text)
    fc.assert(
      fc.property(fc.nat(text.length), fc.nat(text.length), (a, b) => {
        const [low, high] = [Math.min(a, b), Math.max(a, b)]
        const split = new EventSourceReader()
        for (const piece of [text.slice(0, low), text.slice(low, high), text.slice(high)]) split.feed(piece)
        expect(split.events).toEqual(whole.events)
      }),
    )
  })
})
