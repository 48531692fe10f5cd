import { existsSync, readdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import { listNodeImports } from './support/node-imports.ts'

const packages = new URL('../../', import.meta.url)
// A client for services, with its own connection pool and with bytes as Buffers.
const NODE_ONLY_PACKAGES = ['kv']
/** Packages that a browser can load too. */
const BROWSER_PACKAGES = new Set(['eventsource-parser'])

const clients = readdirSync(packages).flatMap((name) => {
  const client = new URL(`${name}/src/client.ts`, packages)
  return existsSync(client) ? [[name, client] as const] : []
})

it('finds all clients', () => {
  expect(clients.map(([name]) => name)).toEqual(
    expect.arrayContaining(['prices', 'sse', 'stats', 'youtube', ...NODE_ONLY_PACKAGES]),
  )
})

it.each(clients)('the client of %s imports only modules that a browser can load', (name, client) => {
  const imports = listNodeImports(client).filter((module) => !BROWSER_PACKAGES.has(module))
  if (NODE_ONLY_PACKAGES.includes(name)) expect(imports).toContain('undici')
  else expect(imports).toEqual([])
})
