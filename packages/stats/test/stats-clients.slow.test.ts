import { fileURLToPath } from 'node:url'
import { embed } from '@influencer-stats/runtime/embed'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import {
  createPythonEnvironment,
  PREPARATION_TIMEOUT_MS,
  runProgram,
} from '@influencer-stats/runtime/testing/third-party-client'
import { sse } from '@influencer-stats/sse/service'
import { expect, it, onTestFinished } from 'vitest'
import { startStandIn } from './support/stand-in.ts'
import { startStats } from './support/stats.ts'

const CLIENT = fileURLToPath(new URL('clients/requests_client.py', import.meta.url))
const SERVICES = new URL('../../../services.ts', import.meta.url).href

it('Python’s requests uses campaigns, and receives live numbers', { timeout: PREPARATION_TIMEOUT_MS }, async () => {
  const python = await createPythonEnvironment(['requests==2.32.5'])
  const [standIn, broadcaster] = await Promise.all([startStandIn(), embed(sse, {}, SERVICES)])
  const stats = await startStats({
    data: createTemporaryFolder(),
    youtubeUri: standIn.url,
    youtubeApiKey: 'stand-in',
    sseUri: broadcaster.url,
    refreshInterval: 1_000,
    dailyBudget: 0,
  })
  onTestFinished(async () => {
    await stats.stop()
    await Promise.all([standIn.stop(), broadcaster.stop()])
  })
  expect(JSON.parse(await runProgram(python, [CLIENT, stats.url, broadcaster.url]))).toEqual({
    created: [201, 'Frühling\u2028', ['-4lB5EKS5Uk', 'goesviral26']],
    stats: [200, 2, [], false],
    changed: [true, [200, 304]],
    live: [true, 0],
    history: [200, true],
    video: [200, true],
    export: [200, ['-4lB5EKS5Uk', 'goesviral26']],
    names: 'Frühling\u2028',
    conditions: [200, 412, 412, 'CONDITION_FAILED', 'Sommer'],
    pages: [[10, 10, 5], 25],
    deleted: [201, 204, 404, 204, 404, 404],
  })
})
