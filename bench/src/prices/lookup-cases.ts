import { toBlockNumber, toSlot } from '@influencer-stats/prices/core/answer-block'
import { SearchQuery } from '@influencer-stats/prices/core/search-query'
import { createOutputBuffer, toWordText, writeAnswer } from '@influencer-stats/prices/search/render-answer'
import type { SearchRequest } from '@influencer-stats/prices/search/search-request'
import { resolveRequest } from '@influencer-stats/prices/search/resolve-request'
import { RequestScanner } from '@influencer-stats/prices/search/request-scanner'
import { toAmbiguous } from '@influencer-stats/prices/index/price-index'
import { createRandom } from '../load/requests/drawers.ts'
import type { FreeCharacteristics, ExpectedCatalog } from '../load/requests/expected-catalog.ts'
import type { OpenCatalog } from './open-catalog.ts'
import { createPriceCheck } from '../load/requests/searches.ts'

/** Names of the measured lookups. */
export type CaseName =
  /** Random complete searches: from the parsed request to the row, including dictionaries. */
  | 'random'
  /** One search repeated: for row 10, and so on. */
  | 'row10'
  | 'row42799'
  | 'row428692'
  /** One search repeated: for row 3,824 of an offering, as in the measurements of the source. */
  | 'row3824'
  /** Random searches that omit two characteristics, so that several rows match. */
  | 'several'
  /** From the bytes of a random complete request to the text of its answer: JSON.parse, or the request scanner. */
  | 'parsed'
  | 'scanned'

/** Maximum length of an answer (bytes). */
const MAX_ANSWER_BYTES = 1_024

/** Prepared lookups. Only `run` is timed. */
export interface LookupBatch {
  /** Runs all lookups. */
  run(): void
  /** Number of lookups with the expected result. */
  countRight(): number
}

/** Index of the offering with row 3,824, in the middle of the sample catalog. */
const OFFERING_INDEX = 25
const ROWS_PER_OFFERING = 9_744
/** Traffic and bandwidth. 203 rows of an offering, and 41 rows of a group, differ only in these characteristics. */
const TWO_CHARACTERISTICS: FreeCharacteristics = new Set([1, 3])
/** Different searches with several matches. They are few, because the expected results need a full scan. */
const AMBIGUOUS_SEARCHES = 64

/** Creates all cases of a catalog. A case prepares `count` lookups, whose strings are new results of JSON.parse. */
export function makeCases(
  expectedCatalog: ExpectedCatalog,
  catalog: OpenCatalog,
): Record<CaseName, (count: number) => LookupBatch> {
  const { index } = catalog
  const random = createRandom(1)
  const query = new SearchQuery()
  const drawRow = () => Math.floor(random() * expectedCatalog.size)
  const rows = (count: number) => Array.from({ length: count }, drawRow)

  function createBatch(bodies: readonly string[], expected: ArrayLike<number>): LookupBatch {
    const requests = bodies.map((body) => JSON.parse(body) as SearchRequest)
    const found = new Int32Array(bodies.length)
    return {
      run() {
        for (let i = 0; i < requests.length; i++) {
          resolveRequest(requests[i]!, catalog, query)
          found[i] = index.find(query)
        }
      },
      countRight: () => found.filter((row, i) => row === expected[i]).length,
    }
  }
  const findRows = (expectedRows: readonly number[]) =>
    createBatch(
      expectedRows.map((row) => expectedCatalog.buildBody(row)),
      expectedRows,
    )
  const repeatRow = (row: number) => (count: number) =>
    findRows(Array.from({ length: count }, () => row % expectedCatalog.size))

  let pool: { readonly body: string; readonly expected: number }[] | undefined
  function createAmbiguous(count: number): LookupBatch {
    pool ??= rows(AMBIGUOUS_SEARCHES).map((row) => {
      const matchCount = expectedCatalog.countMatches(row, TWO_CHARACTERISTICS)
      return {
        body: expectedCatalog.buildBody(row, { free: TWO_CHARACTERISTICS }),
        expected: matchCount === 1 ? row : toAmbiguous(matchCount),
      }
    })
    const chosen = Array.from({ length: count }, () => pool![Math.floor(random() * AMBIGUOUS_SEARCHES)]!)
    return createBatch(
      chosen.map(({ body }) => body),
      chosen.map(({ expected }) => expected),
    )
  }

  const texts = catalog.words.list.map(toWordText)
  const output = createOutputBuffer(MAX_ANSWER_BYTES)
  function render(row: number): string {
    const block = catalog.blocks[toBlockNumber(row)]!
    const slot = toSlot(row)
    return output.bytes.toString(
      'utf8',
      0,
      writeAnswer(block, slot, texts[block.getKind(slot)]!, catalog.words, output, 0),
    )
  }
  function createAnswers(count: number, read: (bytes: Buffer) => void): LookupBatch {
    const expectedRows = rows(count)
    const requests = expectedRows.map((row) => Buffer.from(expectedCatalog.buildBody(row)))
    const answers = expectedRows.map(() => '')
    return {
      run() {
        for (let i = 0; i < requests.length; i++) {
          read(requests[i]!)
          answers[i] = render(index.find(query))
        }
      },
      countRight: () =>
        expectedRows.filter((row, i) => createPriceCheck(row, expectedCatalog.getSpec(row))(Buffer.from(answers[i]!)))
          .length,
    }
  }
  const scanner = new RequestScanner()

  return {
    random: (count) => findRows(rows(count)),
    row10: repeatRow(10),
    row42799: repeatRow(42_799),
    row428692: repeatRow(428_692),
    row3824: repeatRow(OFFERING_INDEX * ROWS_PER_OFFERING + 3_824),
    several: createAmbiguous,
    parsed: (count) =>
      createAnswers(count, (bytes) => void resolveRequest(JSON.parse(bytes.toString()), catalog, query)),
    scanned: (count) => createAnswers(count, (bytes) => void scanner.scan(bytes, 0, catalog, query)),
  }
}
