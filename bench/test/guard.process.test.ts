import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { resolveBase } from '../src/guard/checkouts.ts'
import { guardRows } from '../src/guard/guard-rows.ts'
import { judge, measureRow, parseGuardOptions } from '../src/guard/run-guard.ts'

const repeat = (count: number, ...ratios: number[]) => Array.from({ length: count }, () => ratios).flat()

it('needs six pairs for a verdict', () => {
  expect(judge(repeat(5, 1.5)).verdict).toBe('undecided')
  expect(judge(repeat(6, 1.5)).verdict).toBe('regressed')
})

it('accepts lower costs after four pairs', () => {
  expect(judge([0.9, 0.9, 0.9]).verdict).toBe('undecided')
  expect(judge([1.01, 0.99, 1, 0.98]).verdict).toBe('same')
  expect(judge([1.01, 0.99, 1.03, 1.02]).verdict).toBe('undecided')
})

it('accepts equal costs after six pairs, and measures more near the limit', () => {
  expect(judge([0.99, 1.01, 1, 1.02, 0.98, 1.01]).verdict).toBe('same')
  expect(judge([1.03, 1.03, 1.05, 1.02, 1.05, 1.01]).verdict).toBe('undecided')
})

it('decides after 14 pairs: a row has regressed only if the median and its interval say so', () => {
  expect(judge(repeat(7, 1.045, 1.06)).verdict).toBe('regressed')
  expect(judge(repeat(7, 1.03, 1.035)).verdict).toBe('same')
  // The median is high, but the interval contains 1.
  expect(judge([...repeat(5, 0.9), ...repeat(9, 1.06)]).verdict).toBe('same')
})

it('is not misled by one slow pair', () => {
  expect(judge([1, 1.01, 0.99, 1, 3, 1.01]).verdict).toBe('same')
})

describe('a row', () => {
  /** Measures a row whose pairs have these ratios. */
  const measure = (...ratios: number[]) => measureRow(async () => ratios.shift()!)

  it('has regressed only if a second series confirms it', async () => {
    expect(await measure(...repeat(12, 1.5))).toMatchObject({ verdict: 'regressed', pairs: 6 })
    expect(await measure(...repeat(6, 1.5), ...repeat(4, 1))).toMatchObject({ verdict: 'same', median: 1 })
  })

  it('that costs the same is measured in one series', async () => {
    expect(await measure(...repeat(6, 1.01))).toMatchObject({ verdict: 'same', pairs: 6 })
  })
})

it('has a workload for each row, each name once, and six rows in the short form', () => {
  for (const { row, metric } of guardRows) expect(row.requests !== undefined || metric !== undefined).toBe(true)
  expect(new Set(guardRows.map(({ name }) => name)).size).toBe(guardRows.length)
  expect(guardRows.filter(({ isShort }) => isShort)).toHaveLength(6)
})

it('parses its flags and names an unknown one', () => {
  expect(parseGuardOptions(['--base', 'v1', '--rows', 'kv-get,start'])).toEqual({
    base: 'v1',
    rows: ['kv-get', 'start'],
    isShort: false,
    output: undefined,
    isPublished: false,
  })
  expect(() => parseGuardOptions(['--bases', 'v1'])).toThrow('--bases')
})

it('compares with a commit of this repository by default', async () => {
  const base = await resolveBase(undefined)
  expect(execFileSync('git', ['cat-file', '-t', `${base}^{commit}`], { encoding: 'utf8' }).trim()).toBe('commit')
})
