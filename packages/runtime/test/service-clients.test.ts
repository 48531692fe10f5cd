import { existsSync, readdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import { listNodeImports } from './support/node-imports.ts'

const packages = new URL('../../', import.meta.url)
// For services that talk to each other: it has connections of its own, and bytes as Buffers.
const NODE_ONLY_PACKAGES = ['kv']

const clients = readdirSync(packages).flatMap((name) => {
  const client = new URL(`${name}/src/client.ts`, packages)
  return existsSync(client) ? [[name, client] as const] : []
})

it('there are clients', () => {
  expect(clients.map(([name]) => name)).toEqual(
    expect.arrayContaining(['prices', 'sse', 'stats', 'youtube', ...NODE_ONLY_PACKAGES]),
  )
})

it.each(clients)('what the client of %s imports, a browser can load, too', (name, client) => {
  const imports = listNodeImports(client)
  if (NODE_ONLY_PACKAGES.includes(name)) expect(imports).toContain('undici')
  else expect(imports).toEqual([])
})
