import { expect, it } from 'vitest'
import { planSteps } from '../src/measure.ts'
import { toColumn } from '../src/report/columns.ts'
import { readResults } from '../src/report/results.ts'
import { planCompare } from '../src/run/compare.ts'
import { hasPairs, listSteps } from '../src/table.ts'
import { tables } from '../src/tables/all.ts'
import { findPair } from '../src/tables/find-row.ts'

const PAIRS = 10

const stored = readResults(tables)
/** All ratios that are published, with the rounds of their first row. */
const published = stored.flatMap(({ table, results }) => {
  const steps = listSteps(
    table,
    results.map(({ name }) => name),
  )
  const find = (name: string) => results.find((one) => one.name === name)
  return steps.flatMap(([a, b]) => (find(a) && find(b) ? [{ table, a, b, rounds: find(a)!.rounds }] : []))
})

it('a comparison repeats each published ratio with as many rounds of its kind as it has pairs', () => {
  expect(published.length).toBeGreaterThan(100)
  const counts = published.map(({ table, a, b, rounds }) => {
    const title = `${table.service}/${table.name}: ${a} / ${b}`
    const { rows, options } = planCompare(findPair([title]), { pairs: PAIRS, generator: 'raw' })
    const steps = planSteps(rows, options)
    if (hasPairs(table) && options.comparisons.length > 0) return [title, steps.length, PAIRS]
    const ratios = Object.keys(table.columns).filter((name) => toColumn(table.columns[name]!).ratio)
    const isPaced = ratios.length > 0 && ratios.every((name) => rounds[0]?.[name] === undefined)
    const counted = steps.filter((step) => step.isPaced === isPaced && step.row === rows[0]!.name)
    return [title, counted.length, isPaced ? PAIRS : Math.min(PAIRS, rows[0]!.maxRounds ?? PAIRS)]
  })
  expect(counts.filter(([, planned, expected]) => planned !== expected)).toEqual([])
})

it('rows at a pace get that of their published ratios, unless one of them has a lower capacity here', () => {
  const pair = findPair(["sse/steady: default / Centrifugo's engine"])
  const { rows } = planCompare(pair, { pairs: PAIRS, generator: 'raw' })
  const { results } = stored.find(({ table }) => table.name === 'steady')!
  const capacities = results.flatMap(({ rounds }) => rounds.flatMap(({ capacity }) => capacity ?? []))
  const lowest = Math.min(...capacities.map(Number))
  for (const capacity of [10 * lowest, lowest / 2]) {
    const expected = pair[0].row.getCapacity!({ capacity: Math.min(capacity, lowest) })
    expect(rows.map(({ getCapacity }) => getCapacity!({ capacity }))).toEqual([expected, expected])
  }
})
