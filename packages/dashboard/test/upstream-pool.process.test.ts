import { embed } from '@influencer-stats/runtime/embed'
import { startProcessClock } from '@influencer-stats/runtime/testing/process-clock'
import { spawnService } from '@influencer-stats/runtime/testing/service-process'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { createStatsClient } from '@influencer-stats/stats/client'
import { expect, it, onTestFinished } from 'vitest'
import { dashboard } from '../src/service.ts'
import { sendRequest } from './support/test-stack.ts'
import { UNREACHABLE_URL, serve } from './support/fake-service.ts'

/** Maximum duration of a read that another node must answer (ms). */
const FAILOVER_MS = 4_000
/** Maximum duration of a read from a working node (ms). */
const QUICK_MS = 1_000

/** Starts the dashboard with two nodes of stats. The first is frozen: it accepts connections but sends no replies. */
async function startBeforeFrozen(settings: Record<string, number> = {}) {
  const args = { youtubeUri: UNREACHABLE_URL, sseUri: '', dailyBudget: 0 }
  const [frozen, other] = await Promise.all(
    ['1', '2'].map(() => spawnService('stats', { ...args, data: createTemporaryFolder() })),
  )
  const statsUri = `${frozen!.url},${other!.url}`
  const running = await embed(dashboard, {
    data: createTemporaryFolder(),
    statsUri,
    sseUri: UNREACHABLE_URL,
    demo: 'off',
    ...settings,
  })
  onTestFinished(async () => void (await running.stop()))
  const { url } = running
  await createStatsClient(other!.url).put('a', { videos: [], name: 'Spring' })
  process.kill(frozen!.pid, 'SIGSTOP')
  return { frozen: frozen!, other: createStatsClient(other!.url), collection: `${url}/api/stats/collections/a` }
}

it('another node answers a read that a frozen node does not answer, and then the next reads', async () => {
  const { collection } = await startBeforeFrozen()
  const time = startProcessClock()
  const all = await Promise.all([sendRequest(collection), sendRequest(`${collection}/stats`)])
  expect(all.map(({ status }) => status)).toEqual([200, 200])
  expect(all[0]!.body).toMatchObject({ name: 'Spring' })
  expect(time()).toBeLessThan(FAILOVER_MS)
  const times: number[] = []
  for (const name of ['Summer', 'Autumn', 'Winter']) {
    const next = startProcessClock()
    expect((await sendRequest(collection)).status).toBe(200)
    expect((await sendRequest(collection, 'PATCH', { body: { name } })).status).toBe(200)
    times.push(next())
  }
  // The clock does not follow the other process, which a busy machine may delay. The frozen node would delay all.
  expect(Math.min(...times)).toBeLessThan(QUICK_MS)
})

it('a change that a frozen node may still apply is not repeated, and the next change goes to another node', async () => {
  const { frozen, other, collection } = await startBeforeFrozen({ serviceTimeout: 5_000 })
  const change = (name: string) => sendRequest(collection, 'PATCH', { body: { name } })
  expect((await change('Summer')).body.code).toBe('SERVICE_SLOW')
  expect(await other.get('a')).toMatchObject({ name: 'Spring' })
  expect((await change('Autumn')).status).toBe(200)
  expect(await other.get('a')).toMatchObject({ name: 'Autumn' })
  process.kill(frozen.pid, 'SIGCONT')
})

it('a slow node answers a read, not a node that is not ready', async () => {
  let answerSlowly: (() => void) | undefined
  const slow = await serve((_request, response) => {
    answerSlowly = () => void response.end('{}')
  })
  const starting = await serve((_request, response) => {
    response.writeHead(503).end('{}', () => answerSlowly?.())
  })
  const settings = {
    data: createTemporaryFolder(),
    statsUri: `${slow},${starting}`,
    sseUri: UNREACHABLE_URL,
    demo: 'off',
  }
  const running = await embed(dashboard, settings)
  onTestFinished(async () => void (await running.stop()))
  expect((await sendRequest(`${running.url}/api/stats/collections`)).status).toBe(200)
})
