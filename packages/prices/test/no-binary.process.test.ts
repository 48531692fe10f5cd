import { START_SCRIPT, spawnStart } from '@influencer-stats/runtime/testing/spawn-start'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { expect, it } from 'vitest'

const HOOK = `
  import { registerHooks } from 'node:module'
  registerHooks({
    resolve(name, context, next) {
      if (name === 'roaring') throw new Error('no binary')
      return next(name, context)
    },
  })`

/** Starts the service without the binary of roaring, on the main thread and on every thread. */
const start = (...args: string[]) => {
  const env = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(HOOK)}` }
  const common = ['--port', '0', '--log-level', 'warn', '--data', createTemporaryFolder()]
  return spawnStart(['prices', ...common, ...args], env, { script: START_SCRIPT })
}

const price = { id: '7d9fbe4e-4b1e-4fd5-8c8f-2f7a0a4f4a11', offeringId: 'o', groupId: 'g', priceSpecId: 's', value: 1 }

it('starts without the binary of roaring, reports it in one line, and uses the other bitmaps', async () => {
  const started = start('--sample', 'no')
  const { url } = (await started.waitUntilReady()).prices!
  expect(
    started.stdout.match(/^prices: the package roaring has no binary for this system, so the index is bitset.*$/gm),
  ).toHaveLength(1)
  const line = JSON.stringify({ ...price, charValues: [{ char: 'n', value: 1 }] })
  const headers = { 'content-type': 'application/x-ndjson' }
  expect((await fetch(`${url}/prices/import`, { method: 'POST', headers, body: line })).status).toBe(200)
  const { id: _id, value: _value, ...search } = price
  for (const [index, status] of Object.entries({ bitmap: 200, bitset: 200, 'roaring-offering': 404 })) {
    const found = await fetch(`${url}/v1/search/${index}/prices`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...search, charValues: [{ char: 'n', value: 1 }] }),
    })
    expect([index, found.status]).toEqual([index, status])
  }
  expect((await started.stop()).code).toBe(0)
})

it('does not start with an explicit index that needs the binary', async () => {
  const started = start('--indexes', 'roaring')
  expect(await started.exit).toMatchObject({ code: 1 })
  expect(started.stderr).toMatch(/^prices: the binary of "roaring" is missing/)
})
