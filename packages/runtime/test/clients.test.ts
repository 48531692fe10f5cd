import { existsSync, readdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import { nodeImportsOf } from './support/imports.ts'

const packages = new URL('../../', import.meta.url)
// For services that talk to each other: it has connections of its own, and bytes as Buffers.
const OF_NODE = ['kv']

const clients = readdirSync(packages).flatMap((name) => {
  const client = new URL(`${name}/src/client.ts`, packages)
  return existsSync(client) ? [[name, client] as const] : []
})

it('there are clients', () => {
  expect(clients.map(([name]) => name)).toEqual(
    expect.arrayContaining(['prices', 'sse', 'stats', 'youtube', ...OF_NODE]),
  )
})

it.each(clients)('what the client of %s imports, a browser can load, too', (name, client) => {
  const imports = nodeImportsOf(client)
  if (OF_NODE.includes(name)) expect(imports).toContain('undici')
  else expect(imports).toEqual([])
})
