import { expect, it } from 'vitest'
import { beside, stopBeside } from '../src/contenders/beside.ts'

it('what runs beside is started once, ended with the rest, and started anew for who asks later', async () => {
  const told: string[] = []
  const starter = (name: string) => async () => {
    told.push(`${name} starts`)
    return { name, stop: async () => void told.push(`${name} stops`) }
  }
  const broken = async (): Promise<never> => {
    throw new Error('it did not start')
  }
  const [one, other] = [starter('one'), starter('other')]
  expect([await beside(one), await beside(other)].map(({ name }) => name)).toEqual(['one', 'other'])
  expect(await beside(one)).toBe(await beside(one))
  await expect(beside(broken)).rejects.toThrow('it did not start')
  await stopBeside()
  expect(told).toEqual(['one starts', 'other starts', 'one stops', 'other stops'])
  await stopBeside()
  await beside(one)
  await stopBeside()
  expect(told.slice(4)).toEqual(['one starts', 'one stops'])
})
