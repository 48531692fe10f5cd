import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { until } from '@influencer-stats/runtime/testing/until'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'

const START = fileURLToPath(new URL('../../../scripts/start.ts', import.meta.url))
const READY = /^Try /m
const REAL = 'https://youtube.invalid'

/** What `pnpm start` prints until all is ready. */
async function start(args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const common = ['--port', '0', '--data', temporaryFolder(), '--logLevel', 'warn', '--threads', '0']
  const child = spawn(process.execPath, [START, ...args, ...common], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
  const closed = once(child, 'close')
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await closed
  })
  let stdout = ''
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text))
  await until(() => READY.test(stdout))
  return stdout
}

it('is started for stats where nothing else is named, says that it invents, and cannot be reached from elsewhere', async () => {
  const printed = await start(['stats', '--host', '0.0.0.0'], { API_TOKEN: 'secret' })
  // What listens on all addresses is shown with a name of this machine.
  expect(printed).toMatch(/^stats +http:\/\/localhost:/m)
  expect(printed).toMatch(/^youtube +http:\/\/127\.0\.0\.1:/m)
  expect(printed).toMatch(/^stats: what youtube answers is invented; the real one is asked with --youtubeUri \S+ /m)
})

it('is left out of everything where the real one is named', async () => {
  const printed = await start([], { YOUTUBE_URI: REAL, PRICES_SAMPLE: 'no' })
  expect(printed).toMatch(/^stats +http:/m)
  expect(printed).not.toMatch(/^youtube|invented/m)
})
