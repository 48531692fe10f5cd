import { createParser } from 'eventsource-parser'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readEvents, type EventBlock } from '../src/core/event-stream.ts'

/** Reads a stream that arrives in pieces of the given sizes (bytes), in turn. */
async function readText(text: string, sizes: readonly number[]): Promise<EventBlock[]> {
  const bytes = new TextEncoder().encode(text)
  async function* cut() {
    for (let at = 0, turn = 0; at < bytes.length; turn++) {
      const end = at + sizes[turn % sizes.length]!
      yield bytes.subarray(at, end)
      at = end
    }
  }
  const blocks: EventBlock[] = []
  for await (const block of readEvents(cut())) blocks.push(block)
  return blocks
}

/** Reads a stream with a parser of others. */
function parse(text: string): EventBlock[] {
  const blocks: EventBlock[] = []
  const parser = createParser({
    onId: (id) => void blocks.push({ id }),
    onEvent({ id, event, data }) {
      if (id !== undefined) blocks.pop()
      blocks.push({ id, event, data })
    },
    onRetry: (retry) => void blocks.push({ retry }),
  })
  parser.feed(text)
  return blocks
}

const lines = fc.constantFrom(
  'data: a',
  'data:b',
  'data',
  'data:  é😀',
  'id: 1',
  'id:2-x',
  'event: put',
  'retry: 5',
  'retry: x',
  ':',
  ': note',
  'other: 1',
  '',
  '',
)
const ends = fc.constantFrom('\n', '\n', '\r\n', '\r')

it('reads the blocks of a stream like another parser, however it is cut', async () => {
  const texts = fc.array(fc.tuple(lines, ends), { maxLength: 20 }).map((all) => all.flat().join(''))
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 })
  await fc.assert(
    fc.asyncProperty(texts, sizes, async (text, cuts) => {
      // A last line end of one byte could still be the first half of another.
      const whole = `${text.replace(/\r$/, '\n')}\n`
      expect(await readText(whole, cuts)).toEqual(parse(whole))
    }),
  )
})

it('omits an event that is cut off, and its id', async () => {
  expect(await readText('id: 1\ndata: a\n\nid: 2\ndata: b\n', [4])).toEqual([{ id: '1', data: 'a' }])
})
