import { expect, it } from 'vitest'
import { nginxAvailable } from '../src/contenders/nginx.ts'
import { scenarios } from '../src/scenarios/all.ts'
import type { Scenario } from '../src/scenarios/scenario.ts'

const tables = scenarios.filter((one): one is Scenario => 'rows' in one)
const rowsOf = (scenario: Scenario) => scenario.rows({ youtubeUri: 'http://127.0.0.1:1' })

it('no two tables of a service have the same name', () => {
  const names = scenarios.map(({ service, name }) => `${service}/${name}`)
  expect(new Set(names).size).toBe(names.length)
})

it.each(tables)('rows of $service/$name have names of their own, and steps name rows', async (scenario) => {
  const names = (await rowsOf(scenario)).map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  const named = new Set((scenario.steps ?? []).flat())
  const missing = [...named].filter((name) => !names.includes(name) && (nginxAvailable() || !name.startsWith('nginx')))
  expect(missing).toEqual([])
})
