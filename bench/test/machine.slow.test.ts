import { describe, expect, it } from 'vitest'
import { formatMachineCosts, measureMachineCosts } from '../src/machine-costs.ts'
import { describeMachine, formatMachine, assertQuietMachine, watchSteal } from '../src/machine.ts'

const createProbes = (loads: number[], commit = 'abc') => ({
  commit: () => commit,
  load: () => (loads.length > 1 ? loads.shift()! : loads[0]!),
  pause: async () => {},
})

describe('publishing', () => {
  it('waits for a quiet machine', async () => {
    const said: string[] = []
    await assertQuietMachine((text) => said.push(text), createProbes([2, 2, 1.5, 1.5, 0.5]))
    expect(said).toHaveLength(2)
  })

  it('is refused on a busy machine and for uncommitted code', async () => {
    await expect(assertQuietMachine(() => {}, createProbes([3]))).rejects.toThrow('load 3')
    await expect(assertQuietMachine(() => {}, createProbes([0], 'abc+changes'))).rejects.toThrow('abc: commit it')
  })
})

it('the line of a machine has its commit, its load before, its steal and the day', () => {
  const machine = { ...describeMachine(), commit: 'abc', load: 0.3, steal: 0.0123, date: '2026-11-22T10:00:00.000Z' }
  expect(formatMachine(machine)).toMatch(/commit abc, load 0\.3 before, (\d+ MHz, )?steal 1\.2 %, 2026-11-22$/)
  expect(formatMachine({ ...machine, steal: undefined, megahertz: 0 } as never)).not.toContain('steal')
  const steal = watchSteal()()
  if (steal !== undefined) expect(steal).toBeGreaterThanOrEqual(0)
})

it('the costs of a machine are within the limits of any machine', async () => {
  const costs = await measureMachineCosts()
  expect(costs.systemCallUs).toBeGreaterThan(0.05)
  expect(costs.wakeUpUs).toBeGreaterThan(0.2)
  // A disk without power loss protection needs longer than a system call. A file system in memory does not.
  expect(costs.syncUs).toBeGreaterThan(costs.systemCallUs)
  expect(costs.memoryReadNs).toBeGreaterThan(1)
  for (const cost of Object.values(costs)) expect(cost).toBeLessThan(1e6)
  expect(formatMachineCosts({ systemCallUs: 0.834, wakeUpUs: 12.3, syncUs: 1234.5, memoryReadNs: 98.76 })).toEqual([
    'system call 0.83 us',
    'wake-up 12 us',
    'sync 1235 us',
    'memory read 99 ns',
  ])
  expect(formatMachine({ ...describeMachine(), costs })).toContain('system call ')
})
