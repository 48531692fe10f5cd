import { expect, it } from 'vitest'
import { getBackgroundProcess, stopBackgroundProcesses } from '../src/targets/background-processes.ts'

it('what runs beside is started once, ended with the rest, and started anew for who asks later', async () => {
  const events: string[] = []
  const starter = (name: string) => async () => {
    events.push(`${name} starts`)
    return { name, stop: async () => void events.push(`${name} stops`) }
  }
  const broken = async (): Promise<never> => {
    throw new Error('it did not start')
  }
  const [one, other] = [starter('one'), starter('other')]
  expect([await getBackgroundProcess(one), await getBackgroundProcess(other)].map(({ name }) => name)).toEqual([
    'one',
    'other',
  ])
  expect(await getBackgroundProcess(one)).toBe(await getBackgroundProcess(one))
  await expect(getBackgroundProcess(broken)).rejects.toThrow('it did not start')
  await stopBackgroundProcesses()
  expect(events).toEqual(['one starts', 'other starts', 'one stops', 'other stops'])
  await stopBackgroundProcesses()
  await getBackgroundProcess(one)
  await stopBackgroundProcesses()
  expect(events.slice(4)).toEqual(['one starts', 'one stops'])
})
