import { expect, it } from 'vitest'
import { FIRST_MOMENT, LAST_MOMENT } from '../src/core/values/moment.ts'
import { SearchQuery } from '../src/core/search-query.ts'
import { RowTable, type PriceRow } from '../src/core/row-table.ts'
import type { IndexKind, RowChange } from '../src/index/price-index.ts'
import { CatalogIndexes } from '../src/catalog/catalog-indexes.ts'
import { listPartNames, parts } from '../src/parts.ts'

const OFFERING_COUNT = 40
const [GROUP, SPEC, OLD_VALUE, NEW_VALUE] = [100, 101, 102, 103]
const createRow = (offering: number, value: number): PriceRow => ({
  offering,
  group: GROUP,
  spec: SPEC,
  values: [value],
  isDefault: false,
  chars: 0,
  from: FIRST_MOMENT,
  to: LAST_MOMENT,
})

it.each(listPartNames('index'))(
  'due offerings are rebuilt in small groups until all are done: index %s',
  async (name) => {
    const real = await parts.index[name]()
    let during = () => {}
    const kind: IndexKind = { ...real, update: (segments, changes) => (during(), real.update(segments, changes)) }
    const table = new RowTable()
    for (let offering = 0; offering < OFFERING_COUNT; offering++) table.push(createRow(offering, OLD_VALUE))
    const indexes = await CatalogIndexes.build(new Map([[name, kind]]), table, 0)
    const segments = indexes.segments.get(name)!
    const changes = Array.from({ length: OFFERING_COUNT }, (_, row): RowChange => {
      return { row, before: createRow(row, OLD_VALUE), after: createRow(row, NEW_VALUE) }
    })
    indexes.applyRebuild(await indexes.rebuildDue(), changes, () => 0)

    const done = new Set<number>()
    while (done.size < OFFERING_COUNT) {
      const [known, waiting] = [new Map(segments), indexes.pending.length]
      // A thread that starts meanwhile must receive the current state.
      during = () => {
        expect([...segments]).toEqual([...known])
        expect(indexes.pending).toHaveLength(waiting)
      }
      const rebuild = await indexes.rebuildDue()
      expect(rebuild.rebuilt.length).toBe(Math.ceil((OFFERING_COUNT - done.size) / 8))
      indexes.applyRebuild(rebuild, [], () => 0)
      for (const offering of rebuild.rebuilt) done.add(offering)
      const index = real.read(segments)
      for (let offering = 0; offering < OFFERING_COUNT; offering++) {
        const query = new SearchQuery()
        query.reset(offering, GROUP, SPEC)
        query.values[query.count++] = done.has(offering) ? NEW_VALUE : OLD_VALUE
        expect(index.find(query)).toBe(offering)
      }
    }
    expect(indexes.pending).toEqual([])
    expect((await indexes.rebuildDue()).rebuilt).toEqual([])
  },
)
