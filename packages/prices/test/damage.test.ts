import { expect, it } from 'vitest'
import { AnswerBlock, BLOCK_ROWS, toBlockNumber } from '../src/core/answer-block.ts'
import { CatalogDraft } from '../src/core/catalog-draft.ts'
import { Terms } from '../src/core/terms.ts'
import { parts } from '../src/parts.ts'
import { ItemScanner } from '../src/search/item-scanner.ts'
import { createAnswerBuffer, Searcher } from '../src/search/searcher.ts'
import { createCatalogView } from '../src/search/catalog-view.ts'
import { createPrice, toSearch } from './support/prices.ts'

it('a damaged block fails only the bulk items that need it, with a code', async () => {
  const allPrices = Array.from({ length: 2 * BLOCK_ROWS }, (_, i) =>
    createPrice({ charValues: [{ char: 'n', value: `${i}` }] }),
  )
  const kind = await parts.index.bitset()
  const draft = new CatalogDraft(new Terms())
  for (const price of allPrices) draft.put(price)
  const index = kind.read(await kind.build(draft.buildTable()))
  const getBlock = (row: number) => {
    if (row < BLOCK_ROWS) throw Object.assign(new Error('Corruption: secret'), { code: 'LEVEL_CORRUPTION' })
    return new AnswerBlock(draft.blocks[toBlockNumber(row)]!.bytes)
  }
  const catalog = { getBlock, with: () => catalog, async close() {} }
  const usedTerms = new Uint8Array(draft.terms.list.length).fill(1)
  const dictionary = { terms: draft.terms.list, words: draft.words.list, rows: [] }
  const view = createCatalogView(dictionary, { usedTerms, answerStore: catalog, indexes: new Map([['bitset', index]]) })

  // From both blocks alternately.
  const searched = Array.from({ length: 40 }, (_, i) => allPrices[i % 2 === 0 ? i : BLOCK_ROWS + i]!)
  const items = searched.map((price) => Buffer.from(JSON.stringify({ ...toSearch(price), id: price.id })))
  const bytes = Buffer.concat(items)
  const ends = items.map((_, i) => items.slice(0, i + 1).reduce((sum, { length }) => sum + length, 0))
  const searcher = new Searcher()
  const buffer = createAnswerBuffer(65_536)
  const codes: string[] = []
  const scanner = new ItemScanner()
  for (let at = 0; at < bytes.length;) {
    at = searcher.answerScanned(bytes, at, scanner, view, index, buffer)
    if (at === bytes.length) break
    const end = ends.find((one) => one > at)!
    const item = bytes.subarray(at, end)
    searcher.answerItem(item, scanner.count + 1, view, index, buffer, (_error, { code }) => codes.push(code))
    scanner.endItems(1)
    at = end
  }
  const text = buffer.bytes.toString('utf8', 0, buffer.filled)
  const answers = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(answers.map(({ id }) => id)).toEqual(searched.map(({ id }) => id))
  answers.forEach(({ error, price }, i) => {
    if (i % 2 === 0) expect(error).toMatchObject({ code: 'DATA_DAMAGED', item: i + 1 })
    else expect(price.id).toBe(searched[i]!.id)
  })
  expect(text).not.toContain('secret')
  expect(codes.filter((code) => code === 'DATA_DAMAGED')).toHaveLength(20)
})
