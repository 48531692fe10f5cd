import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Encoder } from '../src/encoder/encoder.ts'

/** What a client makes of a stream. */
export interface ReceivedEvents {
  readonly values: readonly string[]
  /** The id that the client would resume after; nothing if it cannot resume. */
  readonly position?: string
  readonly gaps: number
  readonly closed: boolean
}

export interface EncoderTraits {
  /** Reads a whole stream as a client does. */
  hear(text: string): ReceivedEvents
  /** What a client gets for a value. */
  normalize(value: string): string
  /** Whether a client can tell where to resume. */
  resumes: boolean
  /** How an id looks to a client. */
  spell?(id: string): string
}

/** Values that tend to break framings. */
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

/** A value as encoders are given it. */
export const toContent = (value: string) => ({ topic: 't', value })

/** What every encoder must do. */
export function describeEncoder(name: string, open: () => Promise<Encoder>, traits: EncoderTraits): void {
  const { hear, normalize, resumes, spell = (id) => id } = traits

  describe(`encoder ${name}`, () => {
    it('brings any values whole, in order, and their position', async () => {
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

    it('is silent but for values: opening, position, heartbeat and farewell are none', async () => {
      const encoder = await open()
      const heard = hear(
        encoder.encodeOpening(1_000) + encoder.encodePosition('e-7') + encoder.heartbeat + encoder.encodeGoodbye(5),
      )
      expect(heard).toMatchObject({ values: [], gaps: 0, closed: false })
      if (resumes) expect(heard.position).toBe(spell('e-7'))
    })

    it('announces a gap, and goes on', async () => {
      const encoder = await open()
      const heard = hear(
        encoder.encodeOpening(1_000) + encoder.encodeGap('e-1') + encoder.encodeValue('e-2', toContent('two')),
      )
      expect(heard).toMatchObject({ values: ['two'], gaps: encoder.hasGapEvents ? 1 : 0, closed: false })
    })

    it('says that the stream is closed, and with which id', async () => {
      const encoder = await open()
      const heard = hear(
        encoder.encodeOpening(1_000) + encoder.encodeValue('e-2', toContent('two')) + encoder.encodeClosed('e-03'),
      )
      expect(heard.closed).toBe(true)
      if (resumes) expect(heard.position).toBe(spell('e-03'))
    })
  })
}
