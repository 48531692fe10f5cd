import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LEASE_KIND, type FrameEntry } from '../src/order/frame.ts'
import type { SequencedFrame } from '../src/order/frame-assembler.ts'
import { createStartPosition, encodeLease, WRITER_TTL_MS, Sequencer } from '../src/order/sequencer.ts'

let seq = 0
const createFrame = (writer: string, number: number, at = 0, entries: FrameEntry[] = []): SequencedFrame => ({
  seq: ++seq,
  at,
  check: 0,
  writer,
  number,
  entries,
})
const createEntry = (term = 0): FrameEntry => ({ kind: 1, term, body: Buffer.alloc(0) })
const createLeaseEntry = (holder: string, ttl: number): FrameEntry => ({
  kind: LEASE_KIND,
  term: 0,
  body: encodeLease({ holder, ttl }),
})

describe('the sequencer', () => {
  it('counts each frame of a writer once and in the order of its numbers, for any duplicates', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('a', 'b'), fc.integer({ min: 1, max: 6 })), { maxLength: 60 }),
        (sent) => {
          const sequencer = new Sequencer(createStartPosition('e'))
          const counted: Record<string, number[]> = { a: [], b: [] }
          for (const [writer, number] of sent)
            if (sequencer.acceptFrame(createFrame(writer, number))) counted[writer]!.push(number)
          for (const numbers of Object.values(counted)) expect(numbers).toEqual(numbers.map((_, i) => i + 1))
        },
      ),
    )
  })

  it('makes the same decisions from any position', () => {
    const step = fc.tuple(
      fc.constantFrom('a', 'b', 'c'),
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 0, max: WRITER_TTL_MS }),
      fc.constantFrom(
        createEntry(),
        createEntry(1),
        createEntry(2),
        createLeaseEntry('a', 1_000),
        createLeaseEntry('b', WRITER_TTL_MS),
        createLeaseEntry('a', 0),
      ),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), fc.nat(), (steps, cut) => {
        const frames = steps.map(([writer, number, at, entry]) => createFrame(writer, number, at, [entry]))
        const one = new Sequencer(createStartPosition('e'))
        const all = frames.map((frame) => one.acceptFrame(frame))
        const before = new Sequencer(createStartPosition('e'))
        const at = cut % (frames.length + 1)
        for (const frame of frames.slice(0, at)) before.acceptFrame(frame)
        // As a state machine stores it.
        const after = new Sequencer(JSON.parse(JSON.stringify(before.getPosition())))
        expect(frames.slice(at).map((frame) => after.acceptFrame(frame))).toEqual(all.slice(at))
        expect(after.getPosition()).toEqual(one.getPosition())
      }),
    )
  })

  it('removes a writer after the idle time', () => {
    const sequencer = new Sequencer(createStartPosition('e'))
    sequencer.acceptFrame(createFrame('a', 1, 1_000))
    sequencer.acceptFrame(createFrame('b', 1, 2_000))
    sequencer.acceptFrame(createFrame('c', 1, 1_000 + WRITER_TTL_MS))
    expect(sequencer.getPosition().writers.map(([id]) => id)).toEqual(['b', 'c'])
    expect(sequencer.acceptFrame(createFrame('a', 2, 1_000 + WRITER_TTL_MS))).toBeUndefined()
  })

  it('has a time that does not go back', () => {
    const sequencer = new Sequencer(createStartPosition('e'))
    const times = [5, 3, 9].map((at, i) => {
      const [decision] = sequencer.acceptFrame(createFrame('a', i + 1, at, [createEntry()]))!
      return decision!.kind === 'applied' && decision!.entry.at
    })
    expect(times).toEqual([5, 5, 9])
  })
})

describe('the lease', () => {
  const decide = (sequencer: Sequencer, number: number, at: number, ...entries: FrameEntry[]) =>
    sequencer.acceptFrame(createFrame('w', number, at, entries))!

  it("has one holder at a time, by the log's clock, and each has another term", () => {
    const sequencer = new Sequencer(createStartPosition('e'))
    decide(sequencer, 1, 0, createLeaseEntry('a', 100), createLeaseEntry('b', 100))
    expect(sequencer.getPosition().lease).toEqual({ term: 1, holder: 'a', until: 100 })
    decide(sequencer, 2, 50, createLeaseEntry('a', 100))
    expect(sequencer.getPosition().lease).toEqual({ term: 1, holder: 'a', until: 150 })
    decide(sequencer, 3, 149, createLeaseEntry('b', 100))
    expect(sequencer.getPosition().lease!.holder).toBe('a')
    decide(sequencer, 4, 150, createLeaseEntry('b', 100))
    expect(sequencer.getPosition().lease).toEqual({ term: 2, holder: 'b', until: 250 })
    decide(sequencer, 5, 251, createLeaseEntry('b', 100))
    expect(sequencer.getPosition().lease!.term).toBe(3)
    decide(sequencer, 6, 252, createLeaseEntry('b', 0), createLeaseEntry('a', 100))
    expect(sequencer.getPosition().lease).toEqual({ term: 4, holder: 'a', until: 352 })
  })

  it('fences entries of another term', () => {
    const sequencer = new Sequencer(createStartPosition('e'))
    const kinds = decide(
      sequencer,
      1,
      0,
      createEntry(1),
      createLeaseEntry('a', 100),
      createEntry(1),
      createEntry(2),
      createEntry(),
    )
    expect(kinds.map(({ kind }) => kind)).toEqual(['fenced', 'lease', 'applied', 'fenced', 'applied'])
    // No other node has acquired the lease yet, although it has expired.
    expect(decide(sequencer, 2, 100, createEntry(1))).toMatchObject([{ kind: 'applied' }])
    const later = decide(sequencer, 3, 100, createLeaseEntry('b', 100), createEntry(1), createEntry(2))
    expect(later.map(({ kind }) => kind)).toEqual(['lease', 'fenced', 'applied'])
  })
})
