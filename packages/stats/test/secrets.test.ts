import { spawn } from 'node:child_process'
import { expect, it, onTestFinished } from 'vitest'
import { HOUSE } from '@influencer-stats/runtime/testing/spawn-start'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { until } from '@influencer-stats/runtime/testing/until'

it('the key of YouTube is not in the log where its address is of no host', async () => {
  const key = 'AIza-secret key'
  const args = ['stats', '--port', '0', '--client', 'fetch', '--cache', 'refresh', '--refresh-interval', '50']
  const more = ['--youtube-uri', 'http://nobody.invalid', '--data', temporaryFolder()]
  const child = spawn(process.execPath, [HOUSE, ...args, ...more], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, YOUTUBE_API_KEY: key },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
  const ended = new Promise((resolve) => child.once('close', resolve))
  onTestFinished(async () => {
    child.kill()
    await ended
  })
  const [, url] = await until(() => /^stats +(http:\S+)/m.exec(output))
  const put = { method: 'PUT', headers: { 'content-type': 'application/json' }, body: '{"videos":["-4lB5EKS5Uk"]}' }
  expect((await fetch(`${url}/collections/c`, put)).status).toBe(201)
  await until(() => output.includes('could not be refreshed'))
  expect(output).toContain('could not be refreshed')
  expect(output).not.toMatch(/AIza/)
})
