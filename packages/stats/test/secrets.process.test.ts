import { spawn } from 'node:child_process'
import { expect, it, onTestFinished } from 'vitest'
import { START_SCRIPT } from '@influencer-stats/runtime/testing/spawn-start'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'

it('the key of YouTube is not in the log if the address of YouTube has no host', async () => {
  const key = 'AIza-secret key'
  const args = ['stats', '--port', '0', '--client', 'fetch', '--cache', 'refresh', '--refresh-interval', '50']
  const more = ['--youtube-uri', 'http://nobody.invalid', '--data', createTemporaryFolder()]
  const child = spawn(process.execPath, [START_SCRIPT, ...args, ...more], {
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
  const [, url] = await waitUntil(() => /^stats +(http:\S+)/m.exec(output))
  const put = { method: 'PUT', headers: { 'content-type': 'application/json' }, body: '{"videos":["-4lB5EKS5Uk"]}' }
  expect((await fetch(`${url}/collections/c`, put)).status).toBe(201)
  await waitUntil(() => output.includes('could not be refreshed'))
  expect(output).toContain('could not be refreshed')
  expect(output).not.toMatch(/AIza/)
})
