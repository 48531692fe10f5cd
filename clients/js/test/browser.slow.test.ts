import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { findChromium } from '@influencer-stats/runtime/testing/chromium'
import { EXPECTED_RESULTS } from './support/expected-results.ts'
import { installPackedClient } from './support/packed-client.ts'
import { startServices } from './support/start-services.ts'

const CONSUMER = fileURLToPath(new URL('fixtures/consumer.mjs', import.meta.url))
const PAGE = `<!doctype html><title>page</title>
<script type="importmap">{ "imports": { "@influencer-stats/client": "/client/dist/index.js" } }</script>`

/** Serves an empty page, the modules of the installed client, and the consumer. @returns the origin */
async function servePage(project: string): Promise<string> {
  const server = createServer(({ url = '' }, response) => {
    if (url === '/') return void response.setHeader('content-type', 'text/html').end(PAGE)
    if (!url.endsWith('js')) return void response.writeHead(404).end()
    const file = url === '/consumer.mjs' ? CONSUMER : join(project, 'node_modules/@influencer-stats', url)
    response.setHeader('content-type', 'text/javascript').end(readFileSync(file))
  })
  await once(server.listen(0, 'localhost'), 'listening')
  onTestFinished(() => void server.close().closeAllConnections())
  return `http://localhost:${(server.address() as { port: number }).port}`
}

it('the installed client works in Chromium, in a page of another origin', async () => {
  const origin = await servePage(await installPackedClient())
  const urls = await startServices({ corsOrigins: origin })
  const browser = await chromium.launch({ ...(await findChromium()), args: ['--no-sandbox'] })
  onTestFinished(() => browser.close())
  const page = await browser.newPage()
  await page.goto(origin)
  const code = `import('/consumer.mjs').then(({ useClient }) => useClient(${JSON.stringify(urls)}))`
  expect(await page.evaluate(code)).toEqual(EXPECTED_RESULTS)
})
