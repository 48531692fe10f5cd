import { describe, expect, test } from 'vitest'
import { findMeasuredNumbers } from '../words/measured-numbers.ts'

describe('numbers in prose', () => {
  test.each([
    ['A read costs 20 us of CPU time.', '[20 us]'],
    ['It is 3.5 times as fast.', '[3.5 times]'],
    ['An idle thread takes 28 to 34 MB.', '[28 to 34 MB]'],
    ['The cache saves 30 % of the time.', '[30 %]'],
    ['It serves 9,000/s on one connection.', '[9,000/s]'],
    ['It serves 9,000 requests/s.', '[9,000 requests/s]'],
    ['It is 10x faster.', '[10x]'],
    ['- an item with a p99 of ~12 ms', '[~12 ms]'],
  ])('that state a measurement need a mark: %s', (text, found) => {
    expect(findMeasuredNumbers(text).map((number) => number.text)).toEqual([expect.stringContaining(found)])
  })

  test.each([
    'A read costs <!--= kv/entity: GET cpu -->20.1<!--/--> us.',
    'It costs <!--= kv/entity: GET / bare GET cpu -->1.40 (1.25 to 1.55)<!--/--> times as much.',
    'The delay is at most 50 ms, and the body is up to 200 KB.',
    'A thread is replaced after `100 ms`.',
    'A buffer of 64 KiB and five retries.',
    '| a table | 20 us |',
    'It runs 3 times a day.',
    'With Node 24, on port 8080, since 2026.',
    '```sh\npnpm bench --rate 6000 # 20 ms\n```',
    '<!-- bench:kv/entity -->\nLoad 3 ms.\n<!-- /bench:kv/entity -->',
  ])('need none if they are settings, limits or results: %s', (text) => {
    expect(findMeasuredNumbers(text)).toEqual([])
  })
})
