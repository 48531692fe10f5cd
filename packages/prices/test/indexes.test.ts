import { expect, it } from 'vitest'
import { FIRST_DAY, LAST_DAY } from '../src/core/dates.ts'
import { Query } from '../src/core/query.ts'
import { RowTable, type Row } from '../src/core/rows.ts'
import type { IndexKind, RowChange } from '../src/index/index.ts'
import { Indexes } from '../src/owner/indexes.ts'
import { namesOf, parts } from '../src/parts.ts'

const OFFERINGS = 40
const [GROUP, SPEC, OLD, NEW] = [100, 101, 102, 103]
const rowOf = (offering: number, value: number): Row => ({
  offering,
  group: GROUP,
  spec: SPEC,
  values: [value],
  isDefault: false,
  from: FIRST_DAY,
  to: LAST_DAY,
})

it.each(namesOf('index'))(
  'offerings that are due are folded a few at a time, and all in the end: index %s',
  async (name) => {
    const real = await parts.index[name]()
    let during = () => {}
    const kind: IndexKind = { ...real, update: (segments, changes) => (during(), real.update(segments, changes)) }
    const table = new RowTable()
    for (let offering = 0; offering < OFFERINGS; offering++) table.push(rowOf(offering, OLD))
    const indexes = await Indexes.build(new Map([[name, kind]]), table, 0)
    const segments = indexes.segments.get(name)!
    const changes = Array.from({ length: OFFERINGS }, (_, row): RowChange => {
      return { row, before: rowOf(row, OLD), after: rowOf(row, NEW) }
    })
    indexes.take(await indexes.fold(), changes, () => 0)

    const done = new Set<number>()
    while (done.size < OFFERINGS) {
      const [known, waiting] = [new Map(segments), indexes.waiting.length]
      // A thread that starts meanwhile is to get what counts so far.
      during = () => {
        expect([...segments]).toEqual([...known])
        expect(indexes.waiting).toHaveLength(waiting)
      }
      const fold = await indexes.fold()
      expect(fold.folded.length).toBe(Math.ceil((OFFERINGS - done.size) / 8))
      indexes.take(fold, [], () => 0)
      for (const offering of fold.folded) done.add(offering)
      const index = real.read(segments)
      for (let offering = 0; offering < OFFERINGS; offering++) {
        const query = new Query()
        query.reset(offering, GROUP, SPEC)
        query.values[query.count++] = done.has(offering) ? NEW : OLD
        expect(index.find(query)).toBe(offering)
      }
    }
    expect(indexes.waiting).toEqual([])
    expect((await indexes.fold()).folded).toEqual([])
  },
)
