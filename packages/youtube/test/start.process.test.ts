import { START_SCRIPT, spawnStart } from '@influencer-stats/runtime/testing/spawn-start'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { expect, it } from 'vitest'

const REAL_URI = 'https://youtube.invalid'

/** The output of `pnpm start` until all services are ready. */
async function start(args: readonly string[], env: Record<string, string> = {}) {
  const common = ['--port', '0', '--data', createTemporaryFolder(), '--log-level', 'warn', '--threads', '0']
  const started = spawnStart([...args, ...common], env, { script: START_SCRIPT })
  const rows = await started.waitUntilReady()
  return { rows, printed: started.stdout }
}

it('starts for stats by default, reports that it invents data, and is unreachable from other machines', async () => {
  const { printed, rows } = await start(['stats', '--host', '0.0.0.0'], { API_TOKEN: 'secret' })
  // An address that listens on all interfaces is shown with a name of this machine.
  expect(printed).toMatch(/^stats +http:\/\/localhost:/m)
  expect(printed).toMatch(/^youtube +http:\/\/127\.0\.0\.1:/m)
  expect(printed).toMatch(/^stats: the numbers of youtube are invented; for the real API set --youtube-uri \S+ /m)
  expect(await getVersion(rows.stats!.url)).toMatchObject({ source: 'stand-in' })
  expect(await (await fetch(rows.stats!.url)).text()).toMatch(/Source: stand-in \(invented numbers/)
  const headers = { 'content-type': 'application/json', authorization: 'Bearer secret' }
  await fetch(`${rows.stats!.url}/collections/c`, { method: 'PUT', headers, body: '{"videos":["-4lB5EKS5Uk"]}' })
  const numbers = await (await fetch(`${rows.stats!.url}/collections/c/stats`)).json()
  expect(numbers).toMatchObject({ impressions: 261_734, source: 'stand-in' })
})

it('does not start if the real API is configured', async () => {
  const { printed, rows } = await start([], { YOUTUBE_URI: REAL_URI, PRICES_SAMPLE: 'no' })
  expect(printed).toMatch(/^stats +http:/m)
  expect(printed).not.toMatch(/^youtube|invented/m)
  expect(await getVersion(rows.stats!.url)).toMatchObject({ source: REAL_URI })
  expect(await getVersion(rows.kv!.url)).not.toHaveProperty('source')
})

const getVersion = async (url: string) => (await fetch(`${url}/version`)).json()
