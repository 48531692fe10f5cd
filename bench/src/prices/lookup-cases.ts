import { blockOf, slotOf } from '@influencer-stats/prices/core/answers'
import { Query } from '@influencer-stats/prices/core/query'
import { createRoom, toKindText, writeAnswer } from '@influencer-stats/prices/core/render'
import type { SearchRequest } from '@influencer-stats/prices/core/request'
import { resolve } from '@influencer-stats/prices/core/resolve'
import { RequestScanner } from '@influencer-stats/prices/core/scanner'
import { ambiguous } from '@influencer-stats/prices/index/index'
import { randomOf } from '../load/requests/drawers.ts'
import type { Free, KnownCatalog } from './known-catalog.ts'
import type { Opened } from './opened.ts'
import { isPriceOf } from './searches.ts'

/** What is looked up, and from what to what. */
export type CaseName =
  /** Random complete searches: from the parsed request to the row, dictionaries included. */
  | 'random'
  /** The same one again and again: of row 10, and so on. */
  | 'row10'
  | 'row42799'
  | 'row428692'
  /** Row 3,824 of an offering's, as at the source. */
  | 'row3824'
  /** Random searches that leave two characteristics free, so that several rows fit. */
  | 'several'
  /** From the bytes of a random complete request to the text of its answer, by JSON.parse, and by the scanner. */
  | 'parsed'
  | 'scanned'

/** More than an answer of these catalogs takes (bytes). */
const ROOM = 1_024

/** Some look-ups: what is made for them is not timed, nor is the check of what they found. */
export interface Batch {
  run(): void
  /** How many of them found what they should. */
  right(): number
}

/** The place of the offering in the sample catalog that the source's row is taken of: one in the middle. */
const OFFERING = 25
const ROWS_AN_OFFERING = 9_744
/** Traffic and bandwidth: 203 rows an offering differ in them alone, 41 of a group. */
const TWO: Free = new Set([1, 3])
/** So many searches for several: what they must find is counted row by row. */
const SEVERAL = 64

/** Every case over a catalog; each call makes that many look-ups, their strings fresh from JSON.parse. */
export function makeCases(known: KnownCatalog, opened: Opened): Record<CaseName, (count: number) => Batch> {
  const { index } = opened
  const random = randomOf(1)
  const query = new Query()
  const anyRow = () => Math.floor(random() * known.size)
  const rows = (count: number) => Array.from({ length: count }, anyRow)

  function find(bodies: readonly string[], expected: ArrayLike<number>): Batch {
    const requests = bodies.map((body) => JSON.parse(body) as SearchRequest)
    const found = new Int32Array(bodies.length)
    return {
      run() {
        for (let i = 0; i < requests.length; i++) {
          resolve(requests[i]!, opened, query)
          found[i] = index.find(query)
        }
      },
      right: () => found.filter((row, i) => row === expected[i]).length,
    }
  }
  const findRows = (wanted: readonly number[]) =>
    find(
      wanted.map((row) => known.bodyOf(row)),
      wanted,
    )
  const same = (row: number) => (count: number) => findRows(Array.from({ length: count }, () => row % known.size))

  let pool: { readonly body: string; readonly expected: number }[] | undefined
  function several(count: number): Batch {
    pool ??= rows(SEVERAL).map((row) => {
      const fitting = known.countLike(row, TWO)
      return { body: known.bodyOf(row, { free: TWO }), expected: fitting === 1 ? row : ambiguous(fitting) }
    })
    const chosen = Array.from({ length: count }, () => pool![Math.floor(random() * SEVERAL)]!)
    return find(
      chosen.map(({ body }) => body),
      chosen.map(({ expected }) => expected),
    )
  }

  const texts = opened.kinds.list.map(toKindText)
  const room = createRoom(ROOM)
  function render(row: number): string {
    const block = opened.blocks[blockOf(row)]!
    const slot = slotOf(row)
    return room.bytes.toString('utf8', 0, writeAnswer(block, slot, texts[block.kind(slot)]!, room, 0))
  }
  function answer(count: number, read: (bytes: Buffer) => void): Batch {
    const wanted = rows(count)
    const requests = wanted.map((row) => Buffer.from(known.bodyOf(row)))
    const answers = wanted.map(() => '')
    return {
      run() {
        for (let i = 0; i < requests.length; i++) {
          read(requests[i]!)
          answers[i] = render(index.find(query))
        }
      },
      right: () => wanted.filter((row, i) => isPriceOf(row, known.specOf(row))(Buffer.from(answers[i]!))).length,
    }
  }
  const scanner = new RequestScanner()

  return {
    random: (count) => findRows(rows(count)),
    row10: same(10),
    row42799: same(42_799),
    row428692: same(428_692),
    row3824: same(OFFERING * ROWS_AN_OFFERING + 3_824),
    several,
    parsed: (count) => answer(count, (bytes) => void resolve(JSON.parse(bytes.toString()), opened, query)),
    scanned: (count) => answer(count, (bytes) => void scanner.scan(bytes, 0, opened, query)),
  }
}
