import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Encoder } from '../src/encoder/encoder.ts'

/** A stream as its client interprets it. */
export interface ReceivedEvents {
  readonly values: readonly string[]
  /** Id after which the client would resume; undefined if it cannot resume. */
  readonly position?: string
  readonly gaps: number
  readonly closed: boolean
}

export interface EncoderTraits {
  /** Reads a whole stream as a client does. */
  hear(text: string): ReceivedEvents
  /** Returns a value as a client receives it. */
  normalize(value: string): string
  /** True if a client can resume. */
  resumes: boolean
  /** Returns an id as a client receives it. */
  spell?(id: string): string
}

/** Values that may break a stream format. */
const nasty = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '\n',
        '\r',
        '\r\n',
        '\n\n',
        ':',
        'data: x',
        'id: 9',
        '</script>',
        '<!--',
        '-->',
        "'",
        '"',
        '\\',
        '\u2028',
        '\u2029',
        '\0',
        '\ufeff',
        ' ',
        '`${1}`',
        '&lt;',
      ),
      fc.string({ unit: 'binary' }),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''))

/** Creates the content of an event. */
export const toContent = (value: string) => ({ topic: 't', value })

/** Tests that every encoder must pass. */
export function describeEncoder(name: string, open: () => Promise<Encoder>, traits: EncoderTraits): void {
  const { hear, normalize, resumes, spell = (id) => id } = traits

  describe(`encoder ${name}`, () => {
    it('encodes any values whole and in order, with their position', async () => {
      const encoder = await open()
      fc.assert(
        fc.property(fc.array(nasty, { maxLength: 6 }), (values) => {
          const pieces = values.map((value, i) => encoder.encodeValue(`e-${i + 1}`, toContent(value)))
          const heard = hear(encoder.encodeOpening(1_000) + pieces.join(encoder.heartbeat))
          expect(heard.values).toEqual(values.map(normalize))
          if (resumes && values.length > 0) expect(heard.position).toBe(spell(`e-${values.length}`))
        }),
        { numRuns: 300 },
      )
    })

    it('encodes opening, position, heartbeat and goodbye without an event', async () => {
      const encoder = await open()
      const heard = hear(
        encoder.encodeOpening(1_000) + encoder.encodePosition('e-7') + encoder.heartbeat + encoder.encodeGoodbye(5),
      )
      expect(heard).toMatchObject({ values: [], gaps: 0, closed: false })
      if (resumes) expect(heard.position).toBe(spell('e-7'))
    })

    it('encodes no block without an event, except for EventSource', async () => {
      const encoder = await open()
      const before = encoder.encodeOpening(1_000) + encoder.heartbeat + encoder.encodePosition('e-7')
      if (resumes) {
        expect(before + encoder.heartbeat + encoder.encodeGoodbye(5)).not.toMatch(/\n\n|^\n/)
        expect(encoder.encodePosition('e-7', true)).toBe(`${encoder.encodePosition('e-7')}\n`)
      }
      const heard = hear(before + encoder.heartbeat + encoder.encodeValue('e-8', toContent('8')))
      expect(heard).toMatchObject({ values: ['8'], ...(resumes && { position: spell('e-8') }) })
    })

    it('encodes a gap and the values after it', async () => {
      const encoder = await open()
      const heard = hear(
        encoder.encodeOpening(1_000) + encoder.encodeGap('e-1') + encoder.encodeValue('e-2', toContent('two')),
      )
      expect(heard).toMatchObject({ values: ['two'], gaps: encoder.hasGapEvents ? 1 : 0, closed: false })
    })

    it('encodes the closing with its id', async () => {
      const encoder = await open()
      const heard = hear(
        encoder.encodeOpening(1_000) + encoder.encodeValue('e-2', toContent('two')) + encoder.encodeClosed('e-03'),
      )
      expect(heard.closed).toBe(true)
      if (resumes) expect(heard.position).toBe(spell('e-03'))
    })
  })
}
