import { expect, it } from 'vitest'
import { AnswerBlock, BLOCK_ROWS, blockOf } from '../src/core/answers.ts'
import { Draft } from '../src/core/draft.ts'
import { Terms } from '../src/core/terms.ts'
import { parts } from '../src/parts.ts'
import { createAnswerRoom, Searcher } from '../src/searcher.ts'
import { createView } from '../src/view.ts'
import { priceOf, searchOf } from './support/prices.ts'

it('a damaged block fails the items of a bulk that need it, with a code, and no other', async () => {
  const many = Array.from({ length: 2 * BLOCK_ROWS }, (_, i) => priceOf({ charValues: [{ char: 'n', value: `${i}` }] }))
  const kind = await parts.index.bitset()
  const draft = new Draft(new Terms())
  for (const price of many) draft.put(price)
  const index = kind.read(await kind.build(draft.table()))
  const blockWith = (row: number) => {
    if (row < BLOCK_ROWS) throw Object.assign(new Error('Corruption: secret'), { code: 'LEVEL_CORRUPTION' })
    return new AnswerBlock(draft.blocks[blockOf(row)]!.bytes)
  }
  const catalog = { blockWith, with: () => catalog, async close() {} }
  const live = new Uint8Array(draft.terms.list.length).fill(1)
  const words = { terms: draft.terms.list, kinds: draft.kinds.list, rows: [] }
  const view = createView(words, { live, catalog, indexes: new Map([['bitset', index]]) })

  // Of both blocks by turns.
  const asked = Array.from({ length: 40 }, (_, i) => many[i % 2 === 0 ? i : BLOCK_ROWS + i]!)
  const items = asked.map((price) => Buffer.from(JSON.stringify({ ...searchOf(price), id: price.id })))
  const bytes = Buffer.concat(items)
  const ends = items.map((_, i) => items.slice(0, i + 1).reduce((sum, { length }) => sum + length, 0))
  const searcher = new Searcher()
  const room = createAnswerRoom(65_536)
  const codes: string[] = []
  for (let at = 0; at < bytes.length;) {
    at = searcher.answerUsual(bytes, at, view, index, room)
    if (at === bytes.length) break
    const end = ends.find((one) => one > at)!
    searcher.answerItem(bytes.subarray(at, end), view, index, room, (_error, { code }) => codes.push(code))
    at = end
  }
  const text = room.bytes.toString('utf8', 0, room.filled)
  const answers = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(answers.map(({ id }) => id)).toEqual(asked.map(({ id }) => id))
  answers.forEach(({ error, price }, i) => {
    if (i % 2 === 0) expect(error.code).toBe('DATA_DAMAGED')
    else expect(price.id).toBe(asked[i]!.id)
  })
  expect(text).not.toContain('secret')
  expect(codes.filter((code) => code === 'DATA_DAMAGED')).toHaveLength(20)
})
