import { describe, expect, test } from 'vitest'
import { countProse, findLongSentences, readMarkdown } from '../words/prose.ts'
import { isUnclearConstant, readSource } from '../words/source.ts'

describe('idiom markers', () => {
  test.each([
    ['What comes in one turn goes together.', 1],
    ['Whether a request had nobody to take it.', 2],
    ['Told again once it is known. Nothing is kept.', 3],
    ['The caller who asks gets what is there.', 3],
    ['So many requests stand behind the door.', 4],
  ])('%s has %i', (text, count) => {
    expect(countProse(text).markers).toHaveLength(count)
  })

  test.each([
    'The writer delays the next frame by at most 50 ms.',
    'A stand-in answers in place of the API, over keep-alive connections behind a reverse proxy.',
    'Returns `what is kept`, or undefined.',
  ])('%s has none', (text) => {
    expect(countProse(text).markers).toEqual([])
  })

  test('are counted per word of prose', () => {
    expect(countProse('Closes the `stream`, and [waits](#what-is-there).').words).toBe(5)
  })
})

describe('documents', () => {
  const source = [
    '# Quick start',
    '',
    'A paragraph of',
    'two lines.',
    '',
    '```sh',
    'what is told',
    '```',
    '- an item',
    '- another',
    '',
    '| a cell |',
    '<!-- who -->',
  ].join('\n')

  test('are split into headings, paragraphs, items and rows, without code and comments', () => {
    expect(readMarkdown(source).map(({ line, text, isTable }) => [line, text, isTable])).toEqual([
      [1, 'Quick start', false],
      [3, 'A paragraph of two lines.', false],
      [9, 'an item', false],
      [10, 'another', false],
      [12, '| a cell |', true],
    ])
  })

  test('have no sentence of more than 35 words, outside tables', () => {
    const long = `The ${'very '.repeat(34)}end.`
    expect(findLongSentences({ line: 1, text: `Short. ${long}`, isTable: false })).toEqual([long])
    expect(findLongSentences({ line: 1, text: long, isTable: true })).toEqual([])
    expect(
      findLongSentences({ line: 1, text: `${'word '.repeat(30)}end. ${'Word '.repeat(30)}end.`, isTable: false }),
    ).toEqual([])
  })
})

describe('source files', () => {
  test('give their comments as blocks, and the names of their types', () => {
    const source = [
      '/** Returns it. */',
      'export interface Frame {}',
      '// One',
      '// block.',
      'type Reply = string',
      'class Writer {} // at the end',
      '// oxlint-disable-next-line',
    ].join('\n')
    const { comments, types } = readSource('a.ts', source)
    expect(comments.map(({ line, text }) => [line, text])).toEqual([
      [1, 'Returns it.'],
      [3, 'One block.'],
      [6, 'at the end'],
    ])
    expect(types).toEqual([
      { name: 'Frame', line: 2 },
      { name: 'Reply', line: 5 },
      { name: 'Writer', line: 6 },
    ])
  })

  test.each([
    ['MOST', '5', true],
    ['AT_ONCE', '5', true],
    ['TIMEOUT', '5_000', true],
    ['RETRY_DELAY', '2 * 1_000', true],
    ['RETRY_DELAY_MS', '5', false],
    ['MAX_BATCH_BYTES', '5', false],
    ['NEWLINE', '10', false],
    ['INTERVAL', '"a day"', false],
    ['most', '5', false],
  ])('%s = %s is unclear: %s', (name, value, unclear) => {
    const { unclearConstants } = readSource('a.ts', `const ${name} = ${value}`)
    expect(unclearConstants).toEqual(unclear ? [{ name, line: 1 }] : [])
  })

  test('a constant of another case is not checked', () => {
    expect(isUnclearConstant('Most', undefined)).toBe(false)
  })
})
