import { fileURLToPath } from 'node:url'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { createPythonEnvironment, runProgram } from '@influencer-stats/runtime/testing/third-party-client'
import { expect, it, onTestFinished } from 'vitest'
import { startPrices } from './support/prices.ts'

const CLIENT = fileURLToPath(new URL('clients/http_client.py', import.meta.url))
const BULK_ITEMS = 100_000

it.each(['raw', 'node-http', 'fastify'])('Python’s http.client imports, searches and exports (%s)', async (server) => {
  const python = await createPythonEnvironment([])
  const prices = await startPrices({ data: createTemporaryFolder(), server })
  onTestFinished(async () => void (await prices.stop()))
  expect(JSON.parse(await runProgram(python, [CLIENT, new URL(prices.url).host]))).toEqual({
    imported: { imported: 100, prices: 100 },
    found: 100,
    missing: 404,
    read: ['7.10', 204, 404],
    put: 201,
    bulk: { status: 200, answers: BULK_ITEMS, right: BULK_ITEMS },
    chunked: true,
    exported: 100,
    again: [100, 100],
    same: true,
    refused: [400, 'BAD_LINE'],
    after: 200,
  })
})
