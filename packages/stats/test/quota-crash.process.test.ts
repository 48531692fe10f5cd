import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it, onTestFinished } from 'vitest'
import { START_SCRIPT } from '@influencer-stats/runtime/testing/spawn-start'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { hanging, startFakeYoutube, videoIds } from './support/fake-youtube.ts'
import { startStats } from './support/stats.ts'

/** Starts the service in a separate process. Returns its address and a function that kills it and its supervisor. */
async function spawnStats(data: string, youtubeUri: string, cache: string) {
  const args = [
    'stats',
    '--port',
    '0',
    '--stats.data',
    data,
    '--youtube-uri',
    youtubeUri,
    '--cache',
    cache,
    '--log-level',
    'silent',
  ]
  const child = spawn(process.execPath, [START_SCRIPT, ...args], { stdio: ['ignore', 'pipe', 'ignore'] })
  const closed = once(child, 'close')
  let stdout = ''
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text))
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await closed
  })
  const [, url, pid] = await waitUntil(() => /^stats +(http:\S+) +(\d+) +\d+$/m.exec(stdout))
  return {
    url: url!,
    async crash() {
      process.kill(Number(pid), 'SIGKILL')
      child.kill('SIGKILL')
      await closed
    },
  }
}

it.each(['poller', 'lru'])(
  'a killed process has persisted the count of all its calls, with the cache %s',
  async (cache) => {
    const youtube = await startFakeYoutube()
    youtube.handler = hanging
    const data = createTemporaryFolder()
    const killed = await spawnStats(data, youtube.url, cache)
    const videos = JSON.stringify({ videos: videoIds(1) })
    const headers = { 'content-type': 'application/json' }
    await fetch(`${killed.url}/collections/c`, { method: 'PUT', headers, body: videos })
    const reading = fetch(`${killed.url}/collections/c/stats`).catch(() => {})
    await waitUntil(() => youtube.calls.length > 0)
    await killed.crash()
    await reading
    const stats = await startStats({ data, youtubeUri: 'http://127.0.0.1:9' })
    onTestFinished(() => stats.stop().then(() => {}))
    const used = /^stats_quota_units_used (\d+)$/m.exec(String((await stats.get('/metrics')).body))
    expect(Number(used![1])).toBe(youtube.calls.length)
  },
)
